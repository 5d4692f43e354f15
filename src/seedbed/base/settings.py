"""One frozen settings object: defaults, then seedbed.toml, then SEEDBED_*, then flags; an unknown key is refused."""

import os
import tomllib
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from seedbed.base.errors import InvalidInput
from seedbed.base.mistakes import sentences_of

_PREFIX = "SEEDBED_"
# variables of the command line, the client and the benchmarks, not of the service
_CLIENT_ONLY = {"url", "token", "bench_data", "new_password", "debug"}


class Settings(BaseModel):
    """Everything that can be set. `docs/settings.md` is made from the descriptions here."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    home: Path = Field(Path("~/.seedbed"), description="Where everything is kept.")
    database: str = Field("", description="PostgreSQL URL; empty: an SQLite file in the home.")
    host: str = Field("127.0.0.1", description="Address to serve on; anything but 127.0.0.1 belongs behind TLS.")
    port: int = Field(8321, ge=0, le=65535, description="Port to serve on; 0 takes a free one.")
    public_url: str = Field("", description="The address that people use, when a proxy stands in front.")
    team: bool = Field(False, description="Several people with passwords and roles, instead of one token.")
    session_hours: float = Field(12.0, gt=0, description="How long a signed-in browser stays signed in.")
    upload_limit: int = Field(8 << 30, gt=0, description="Largest upload in bytes.")
    image_pixel_limit: int = Field(200_000_000, gt=0, description="Largest image in pixels; larger ones are findings.")
    import_roots: tuple[Path, ...] = Field((), description="Server folders that may be read in over REST.")
    policy: str = Field("fitgpp", description="Which waiting job starts and which running one makes room.")
    cpus: float = Field(0.0, ge=0, description="Cpus that jobs may use; 0: all.")
    memory: int = Field(0, ge=0, description="Bytes of memory that jobs may use; 0: 90 % of the machine's.")
    gpus: int = Field(-1, ge=-1, description="Gpus that jobs may use; -1: all.")
    log_limit: int = Field(
        64 << 20, ge=1 << 16, description="Bytes of a log that are kept; of a longer one its beginning and its end."
    )
    desks: int = Field(
        8, ge=2, description="Worker processes that answer people who label; each project has up to two."
    )
    desk_idle_minutes: float = Field(15.0, gt=0, description="How long such a process stays when nobody asks it.")
    weight_slots: int = Field(
        4, ge=0, le=1000, description="Sets of pretrained weights that a machine keeps in memory; 0: none."
    )
    weight_cache: str = Field(
        "", description="Folder for those; empty: in shared memory where that has room, else in the home."
    )
    baseline: str = Field(
        "",
        description="A data set that stands for ImageNet when weights are ranked; empty: the newest with classes whose "
        "name has 'imagenet' in it.",
    )
    gc_grace_hours: float = Field(24.0, ge=0, description="How long unreferenced files are spared.")
    webhook: str = Field("", description="Address that is told, by POST, when a job ends.")
    mail_server: str = Field("", description="host:port of an SMTP server for mail when a job ends.")
    mail_from: str = Field("", description="Sender of those mails.")

    @property
    def database_url(self) -> str:
        """The SQLAlchemy URL."""
        if not self.database:
            return f"sqlite:///{self.home / 'seedbed.db'}"
        return self.database.replace("postgresql://", "postgresql+psycopg://", 1)


def load_settings(flags: dict[str, Any] | None = None, environ: dict[str, str] | None = None) -> Settings:
    """Settings from all four sources; every mistake in them is reported at once."""
    env = dict(os.environ) if environ is None else environ
    given = {k[len(_PREFIX) :].lower(): v for k, v in env.items() if k.startswith(_PREFIX)}
    values: dict[str, Any] = {k: v for k, v in given.items() if k not in _CLIENT_ONLY}
    values.update({k: v for k, v in (flags or {}).items() if v is not None})
    home = Path(values.get("home", Settings.model_fields["home"].default)).expanduser().absolute()
    merged = {**_from_file(home / "seedbed.toml"), **values, "home": home}
    if isinstance(merged.get("import_roots"), str):
        merged["import_roots"] = [part for part in merged["import_roots"].split(os.pathsep) if part]
    try:
        return Settings.model_validate(merged)
    except ValidationError as error:
        problems = sentences_of(error.errors(), Settings.model_fields, noun="a setting")
        raise InvalidInput("The settings cannot be used.", problems=problems) from None


def _from_file(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    try:
        return tomllib.loads(path.read_text())
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"{path} is not valid TOML: {error}.") from None
