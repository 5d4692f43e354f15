"""Every route times every role, over a real platform: a route lets in exactly whom it declares."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute
from sqlalchemy import insert

from seedbed.assets.access.roles import SOLO, Role
from seedbed.assets.db.tables import contexts
from seedbed.assets.store.bundle import ArrayType, Bundle, Draft, DraftArray, Lineage
from seedbed.assets.store.lineage import HIDDEN
from seedbed.faces.api.app import role_of
from seedbed.flows.platform import Platform

By = Callable[[str], httpx.Client]


def routes(app: FastAPI) -> list[tuple[str, str, Role | None]]:
    """(method, path with made-up names, declared role) of everything that is not an open door."""
    found = []
    for route in app.routes:
        assert isinstance(route, APIRoute), f"{route} is no route that can declare a role"
        declared = role_of(route)
        assert declared is not None, f"{route.path} declares no role: use requires(...)"
        path = re.sub(r"\{(index)\}", "0", re.sub(r"\{(?!index)\w+(:path)?\}", "made-up", route.path))
        found += [(method, path, declared.role) for method in sorted(route.methods or ())]
    return found


def test_every_route_declares_a_role(team: FastAPI) -> None:
    assert len(routes(team)) > 70


def test_nobody_gets_in_anywhere_but_at_the_doors(team: FastAPI, team_calls: By) -> None:
    nobody = team_calls("")
    for method, path, role in routes(team):
        if role is not None:
            assert nobody.request(method, path).status_code == 401, (method, path)


@pytest.mark.parametrize("held", list(Role))
def test_every_route_lets_in_exactly_the_roles_that_it_declares(
    team: FastAPI, team_calls: By, tokens: dict[Role, str], held: Role
) -> None:
    person = team_calls(tokens[held])
    for method, path, role in routes(team):
        if role is None or (
            path.endswith(("/backup", "/session", "/sign-out", "/store/gc", "/store/verify", "/store/rebuild"))
            and held.covers(role)
        ):
            continue  # these would do something without any further argument
        if path.startswith("/api/v1/users/made-up") and role is Role.VIEWER:
            path = path.replace("made-up", f"a-{held.value}")  # what everybody may do with their own account
        status = person.request(method, path).status_code
        if held.covers(role):
            assert status not in (401, 403), (method, path, status)
            assert status < 500, (method, path, status)
        else:
            assert status == 403, (method, path, status)


def test_a_refusal_is_written_into_the_audit_log(team_calls: By, tokens: dict[Role, str], platform: Platform) -> None:
    team_calls(tokens[Role.VIEWER]).post("/api/v1/projects", json={"name": "x"})
    newest = platform.users.audit(limit=1, by=SOLO)[0]
    assert (newest.who, newest.action, newest.outcome) == ("a-viewer", "projects.create", "refused")


def test_inside_a_project_the_role_there_counts(team_calls: By, tokens: dict[Role, str], platform: Platform) -> None:
    project = platform.projects.create("theirs", classes=["a"], by=SOLO)
    viewer = team_calls(tokens[Role.VIEWER])
    label = {"labels": [{"id": "1", "image": "i", "label": "a"}]}
    platform.users.add_member(project.id, "a-viewer", Role.LABELLER, by=SOLO)
    assert viewer.post("/api/v1/projects/theirs/labels", json=label).status_code == 201
    assert viewer.post("/api/v1/projects/theirs/classes", json={"name": "b"}).status_code == 403


def test_somebody_who_is_no_member_does_not_learn_that_a_project_exists(
    team_calls: By, tokens: dict[Role, str], platform: Platform
) -> None:
    platform.projects.create("secret", by=SOLO)
    trainer = team_calls(tokens[Role.TRAINER])
    there, absent = trainer.get("/api/v1/projects/secret"), trainer.get("/api/v1/projects/absent")
    assert there.status_code == absent.status_code == 404
    assert there.json()["detail"].replace("secret", "absent") == absent.json()["detail"]
    assert "secret" not in trainer.get("/api/v1/projects").text


@pytest.mark.parametrize("held", list(Role))
@pytest.mark.parametrize("direction", ["up", "down"])
def test_a_lineage_says_of_bundles_of_other_projects_only_that_they_are_there(
    team_calls: By, tokens: dict[Role, str], platform: Platform, held: Role, direction: str
) -> None:
    hidden = platform.projects.create(f"hidden {held} {direction}", by=SOLO)
    origin = _published(platform, "origin-name", project=hidden.id if direction == "up" else "")
    made = _published(platform, "made-name", origin, project=hidden.id if direction == "down" else "")
    shown, other = (made, origin) if direction == "up" else (origin, made)
    person = team_calls(tokens[held])

    def asked() -> tuple[dict[str, Any], str]:
        answer = person.get(f"/api/v1/bundles/{shown.uuid}/lineage?direction={direction}")
        assert answer.status_code == 200, answer.text
        return next(node for node in answer.json()["nodes"] if node["uuid"] == other.uuid), answer.text

    node, text = asked()
    assert node["hidden"] == (held is not Role.OPERATOR)
    if held is not Role.OPERATOR:
        assert node["name"] == HIDDEN and not any(node[name] for name in ("kind", "step", "job", "project", "created"))
        assert other.name not in text
    platform.users.add_member(hidden.id, f"a-{held.value}", Role.VIEWER, by=SOLO)
    node, _ = asked()
    assert node["name"] == other.name and not node["hidden"], "members see it"


def _published(platform: Platform, name: str, *made_from: Bundle, project: str) -> Bundle:
    return platform.store.publish(
        Draft(
            name=name,
            kind="notes",
            arrays={"text": DraftArray(ArrayType.STR, (name,))},
            lineage=Lineage(step="write", inputs=tuple(("data", one.uuid) for one in made_from)),
            project=project,
        )
    )


def test_who_deletes_learns_of_bundles_of_other_projects_only_that_they_have_the_same_bytes(
    team_calls: By, tokens: dict[Role, str], platform: Platform, tmp_path: Path
) -> None:
    hidden = platform.projects.create("keeps the bytes", by=SOLO)
    (tmp_path / "a.txt").write_text("the same bytes")
    mine = platform.bundles.add([tmp_path / "a.txt"], name="mine-shared", by=SOLO)
    platform.bundles.add([tmp_path / "a.txt"], name="theirs-secret", project=hidden.id, by=SOLO)
    answer = team_calls(tokens[Role.TRAINER]).post("/api/v1/bundles/remove", json={"refs": [mine.uuid]})
    assert (answer.json()["shared"], answer.json()["keepers"]) == (1, [HIDDEN])
    assert "theirs-secret" not in answer.text


def test_only_operators_remove_contexts_and_even_those_with_a_slash(
    team_calls: By, tokens: dict[Role, str], platform: Platform
) -> None:
    with platform.store.database.write() as conn:  # as an older Seedbed made them
        conn.execute(insert(contexts).values(name="old/one", remote="", created=0.0))
    for role in (Role.VIEWER, Role.TRAINER):
        assert team_calls(tokens[role]).delete("/api/v1/contexts/old%2Fone").status_code == 403
    operator = team_calls(tokens[Role.OPERATOR])
    assert operator.delete("/api/v1/contexts/old%2Fone").status_code == 204
    assert operator.delete("/api/v1/contexts/old%2Fone").status_code == 404
