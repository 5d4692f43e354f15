"""Work that begins where there is news of a project: looked at once, whatever becomes of one of them."""

import logging

import pytest

from seedbed.assets.access.roles import SOLO
from seedbed.assets.projects.projects import Project
from seedbed.assets.projects.projects import Projects as KeptProjects
from seedbed.base.errors import Conflict, Unavailable
from seedbed.flows.platform import Platform
from seedbed.flows.usecases.followers import ProjectNews


@pytest.fixture
def news(platform: Platform) -> ProjectNews:
    kept = KeptProjects(platform.database, platform.events, platform.clock)
    return ProjectNews(platform.events, kept, "a consumer of tests", ("project.",))


def test_each_project_with_news_is_looked_at_once_and_one_that_is_gone_is_passed_over(
    platform: Platform, news: ProjectNews
) -> None:
    for name in ("one", "two", "gone"):
        platform.projects.create(name, by=SOLO)
    platform.projects.set_settings("one", {"goal": 3}, by=SOLO)
    platform.projects.delete("gone", by=SOLO)
    seen: list[str] = []

    def begin(project: Project) -> bool:
        seen.append(project.name)
        return project.name == "two"

    assert news.each(begin, refused="Nothing began") == 1 and seen == ["one", "two"]
    assert news.each(begin, refused="Nothing began") == 0 and seen == ["one", "two"]


def test_what_one_project_is_refused_does_not_keep_the_others_waiting(
    platform: Platform, news: ProjectNews, caplog: pytest.LogCaptureFixture
) -> None:
    projects = [platform.projects.create(name, by=SOLO) for name in ("one", "two")]

    def begin(project: Project) -> bool:
        if project.name == "one":
            raise Conflict("It goes on already.")
        return True

    with caplog.at_level(logging.WARNING):
        assert news.each(begin, refused="Nothing began") == 1
    assert caplog.messages == [f"Nothing began (project {projects[0].id}): It goes on already."]
    assert news.each(begin, refused="Nothing began") == 0


def test_news_wait_where_the_trouble_passes(platform: Platform, news: ProjectNews) -> None:
    platform.projects.create("one", by=SOLO)

    def away(project: Project) -> bool:
        raise Unavailable("The database is away.")

    with pytest.raises(Unavailable):
        news.each(away, refused="Nothing began")
    assert news.each(lambda project: True, refused="Nothing began") == 1
