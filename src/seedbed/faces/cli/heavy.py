"""What takes time to import, loaded when a command needs it: `seedbed --help` answers at once."""

from typing import Any

from seedbed.base.registry import Registry

HEAVY: Registry[Any] = Registry(
    "part of the command line",
    {
        "Client": "seedbed.faces.client:Client",
        "inside": "seedbed.faces.cli.inside:inside",
        "settings": "seedbed.base.settings:load_settings",
        "serve": "seedbed.faces.cli.server:serve",
        "host": "seedbed.faces.cli.host:host",
        "scheduler": "seedbed.faces.cli.scheduler:run_until_parent_ends",
        "examine": "seedbed.flows.usecases.doctor:examine",
        "restore": "seedbed.flows.usecases.backup:restore",
        "rows_of": "seedbed.flows.unloaded:rows_of",
        "names_in": "seedbed.assets.db.glance:names_in",
        "load_tables": "seedbed.flows.jobfile:load_tables",
        "Bars": "seedbed.faces.cli.progress:Bars",
        "Download": "seedbed.faces.cli.progress:Download",
        "table": "seedbed.faces.cli.drawing:table",
        "record": "seedbed.faces.cli.drawing:record",
        "lineage": "seedbed.faces.cli.drawing:lineage",
    },
)
