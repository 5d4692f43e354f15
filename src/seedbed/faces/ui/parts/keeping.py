"""A trained model as a starting point for later trainings: a button, or that it is one already."""

from nicegui import ui

from seedbed.assets.access.roles import SOLO, Role
from seedbed.assets.store.bundle import Bundle
from seedbed.faces.ui.elements import box, button, link, path, words
from seedbed.faces.ui.site import Visit
from seedbed.faces.ui.telling import telling


async def keeping(visit: Visit, model: Bundle) -> None:
    """Below a model: those who may see it may start from it, and nobody else."""
    cards = await visit.shared(visit.platform.zoo.cards)
    kept = next((one for one in cards if one["lineage"].get("model") == model.uuid), None)
    if kept:
        with box(classes="row"):
            words(f"Later trainings can start from it, as '{kept['name']}'.", "span", "soft")
            link("All starting points", "/zoo")
        return
    place = "" if visit.by.id == SOLO.id else model.project
    if not visit.by.may(Role.TRAINER, place):
        return

    async def keep() -> None:
        with telling():
            jobs = await visit.ask(visit.platform.zoo.add, model.uuid, project=place)
            ui.navigate.to(path("jobs", jobs[-1].id))

    with box(classes="row"):
        button("Keep it as a starting point", keep)
        words("Later trainings on images that are alike can begin with what it has learnt.", "span", "soft")
