import inspect
import json

from seedbed.assets.access.audit import Audit
from seedbed.assets.db.engine import Database
from seedbed.base.clock import ManualClock


def test_lines_come_newest_first_and_by_person_or_action(audit: Audit, clock: ManualClock) -> None:
    audit.record("ada", "job.cancel", "j1")
    clock.advance(5)
    audit.record("bob", "job.cancel", "j2", "refused", {"role": "viewer"})
    audit.record("ada", "bundle.remove", "b1")
    assert [line.subject for line in audit.list()] == ["b1", "j2", "j1"]
    assert [line.subject for line in audit.list(who="ada")] == ["b1", "j1"]
    assert [line.subject for line in audit.list(action="job.cancel")] == ["j2", "j1"]
    assert [line.subject for line in audit.list(limit=1, offset=1)] == ["j2"]
    line = audit.list(who="bob")[0]
    assert (line.outcome, line.data, line.at) == ("refused", {"role": "viewer"}, clock.now())


def test_there_is_no_way_to_change_or_remove_a_line() -> None:
    public = {name for name, _ in inspect.getmembers(Audit, inspect.isfunction) if not name.startswith("_")}
    assert public == {"record", "list"}
    source = inspect.getsource(inspect.getmodule(Audit) or Audit)
    assert "update(" not in source
    assert "delete(" not in source


def test_values_named_like_secrets_are_not_kept(audit: Audit) -> None:
    audit.record("ada", "x", "y", data={"Password": "p1", "deep": [{"api_token": "p2", "fine": 1}], "cookie": "p3"})
    kept = json.dumps(dict(audit.list()[0].data))
    assert not any(secret in kept for secret in ("p1", "p2", "p3"))
    assert '"fine": 1' in kept


def test_any_text_can_be_a_subject(audit: Audit) -> None:
    audit.record("ada", "get", "/files/\x00\ud800" + "x" * 5000)
    assert audit.list()[0].subject.startswith("/files/\ufffd\ufffdx")
    assert audit.list(who="\x00") == []
    assert audit.list(limit=-1, offset=1 << 80) == []


def test_a_line_in_a_transaction_that_fails_is_not_written(audit: Audit, database: Database) -> None:
    try:
        with database.write() as connection:
            audit.record("ada", "x", "y", connection=connection)
            raise KeyError
    except KeyError:
        pass
    assert audit.list() == []
