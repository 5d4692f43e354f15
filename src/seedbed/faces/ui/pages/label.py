"""The labelling page: the frame, and one place that a module in the browser fills.

The server sends nothing per image: the module talks to the API, with the page's own cookie. How it is made up is told
at the top of each file in assets/labelling.
"""

import json

from nicegui import ui

from seedbed.assets.access.roles import Role
from seedbed.faces.ui import theme
from seedbed.faces.ui.elements import box, empty, link, markup, path
from seedbed.faces.ui.layout import frame
from seedbed.faces.ui.site import Visit, page


@page("/projects/{ref}/label", role=Role.VIEWER)
async def label(visit: Visit, ref: str) -> None:
    """Say what the project's images show. `?show=` and `?mode=` choose what is seen first."""
    project = await visit.ask(visit.platform.projects.get, ref)
    home = path("projects", project.id)
    if project.data:
        about = {"project": project.id, "name": visit.by.name, "person": visit.by.id}
        told = f'<meta name="seedbed-labelling" content="{markup(json.dumps(about))}">'
        ui.add_head_html(told + theme.labelling_head())
    with frame(visit, "Label images", crumbs=[("Home", "/"), (project.name, home)]) as lead:
        if project.data:
            box(classes="lb", id="labelling")
            return
        lead.set_text("There are no images to label yet.")
        with empty("data", "Bring your images", "Then say of a few of them what they show."):
            link("Back to the project", home, "button main")
