"""The server under test, as a process of its own: NiceGUI is one per process.

python -m tests.faces.ui.serve HOME PORT [TOKEN]; without a token it is a team's, and CODE sets up its first operator.
"""

import sys
import threading

import uvicorn

from seedbed.base.settings import load_settings
from seedbed.faces.api.app import create_app
from seedbed.faces.ui.app import mount
from seedbed.flows.platform import Platform

CODE = "first-operator-code"


def main(home: str, port: str, token: str = "") -> None:
    settings = load_settings({"home": home, "port": int(port), "team": not token, "cpus": 2.0}, environ={})
    stop = threading.Event()
    with Platform.open(settings) as platform:
        app = create_app(platform, settings=settings, solo_token=token or None, set_up_code=None if token else CODE)
        mount(app, platform)
        scheduler = threading.Thread(target=platform.serve_scheduler, args=(stop,))
        scheduler.start()
        try:
            uvicorn.run(app, host="127.0.0.1", port=int(port), log_level="warning", timeout_graceful_shutdown=2)
        finally:
            stop.set()
            scheduler.join()


if __name__ == "__main__":
    main(*sys.argv[1:])
