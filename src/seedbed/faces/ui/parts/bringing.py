"""What a page says where there are no images yet."""

from seedbed.assets.access.roles import Role
from seedbed.faces.ui.elements import empty, link, words
from seedbed.faces.ui.site import Visit


def bring_images(visit: Visit, title: str, about: str) -> None:
    """The way to bring some, for those who may: on a page, or at the command line."""
    with empty("data", title, about):
        if visit.by.may(Role.TRAINER):
            link("Begin a project with them", "/new", "button main")
            words("Or, without a project, at the command line:", "p")
            words("seedbed data add IMAGES --name my-images", "code")
