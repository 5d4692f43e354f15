from concurrent.futures import ThreadPoolExecutor

from seedbed.assets.access.secrets import Secrets
from seedbed.assets.db.engine import Database


def test_everybody_who_asks_at_once_gets_the_same_secret(database: Database) -> None:
    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(lambda _: Secrets(database).get("cookie"), range(16)))
    assert len(found) == 1
    assert len(found.pop()) == 32


def test_secrets_of_different_names_differ(database: Database) -> None:
    secrets = Secrets(database)
    assert secrets.get("cookie") != secrets.get("csrf")
    assert secrets.get("cookie") == Secrets(database).get("cookie")
