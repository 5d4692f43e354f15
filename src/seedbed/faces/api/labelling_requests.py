"""What the API is asked with while people label."""

from typing import Annotated

from pydantic import Field

from seedbed.faces.api.examples import UUID
from seedbed.faces.api.requests import Asked
from seedbed.flows.asked import Ref

Index = Annotated[int, Field(ge=0, le=1 << 31)]


class SuggestionsAsked(Asked):
    """Images, by their numbers in the project's data set."""

    indexes: list[Index] = Field(min_length=1, max_length=1000, examples=[[0, 1, 2]])


class PresenceAsked(Asked):
    """Where somebody is."""

    where: int = Field(-1, ge=-1, le=1 << 31, description="The number of an image; -1: at none.", examples=[12])


class DroppedAsked(Asked):
    """Images to look at."""

    upload: Ref = Field(description="The id of an upload of images; it is removed afterwards.", examples=[UUID])
