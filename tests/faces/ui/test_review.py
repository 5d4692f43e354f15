"""Which labels are offered for review: not those that somebody has looked at again and kept."""

from pathlib import Path

from seedbed.assets.access.roles import SOLO
from seedbed.assets.projects.labels import LabelEvent
from seedbed.base.ids import new_id
from seedbed.base.settings import Settings
from seedbed.faces.ui.pages.review import confirmed
from seedbed.flows.platform import Platform


def test_a_label_that_was_given_twice_in_a_row_is_meant(tmp_path: Path) -> None:
    with Platform.open(Settings(home=tmp_path / "home", port=0)) as platform:
        project = platform.projects.create("Leaves", classes=["rust", "blight"], by=SOLO)

        def say(image: str, *labels: str) -> None:
            events = [LabelEvent(new_id(), image, label, "") for label in labels]
            platform.projects.add_labels(project.id, events, by=SOLO)

        say("once.jpg", "rust")
        say("kept.jpg", "rust", "rust")
        say("changed.jpg", "rust", "blight")
        say("kept-then-changed.jpg", "rust", "rust", "blight")
        say("taken-back.jpg", "rust", "", "rust")
        assert confirmed(platform, project.id, SOLO) == {"kept.jpg"}
