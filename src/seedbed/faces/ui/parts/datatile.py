"""A data set as a tile: four of its images, its name, how many there are."""

import time

from seedbed.assets.store.bundle import Bundle
from seedbed.faces.ui import words as say
from seedbed.faces.ui.elements import box, path, words
from seedbed.faces.ui.parts import thumbs
from seedbed.faces.ui.results import images_of, texts


def data_tile(bundle: Bundle) -> None:
    """A link to a data set's page."""
    images = images_of(bundle)
    classes = texts(bundle, "classes")
    with box("a", "card tile", href=path("data", bundle.uuid)):
        thumbs.strip(bundle.uuid, images)
        words(bundle.name, "h3")
        known = f", {say.plural(len(classes), 'class', 'classes')}" if classes else ""
        words(f"{say.plural(images, 'image')}{known} · {say.ago(bundle.created, time.time())}", "p", "soft")
