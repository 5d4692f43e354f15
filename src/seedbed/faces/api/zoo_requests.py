"""What the API is asked with about the zoo."""

from typing import Annotated

from pydantic import Field

from seedbed.faces.api.requests import Asked, Text
from seedbed.flows.asked import Ref
from seedbed.methods.learn.settings import TrainSettings

CardName = Annotated[str, Field(max_length=120)]
Network = Annotated[str, Field(max_length=200)]


class ImportAsked(Asked):
    """Weights to take into the zoo: of a model, a file or timm's hub."""

    model: Ref = Field("", description="A model's bundle, or a finished training.", examples=["leaves.model"])
    path: Text = Field("", description="Or a .safetensors file or PyTorch state dict of the server.")
    upload: Ref = Field("", description="Or the id of an upload: one such file.")
    hub: Network = Field("", description="Or the name of a network of timm, whose hub has weights.")
    name: CardName = Field(
        "", description="What the card is called; empty: after its source.", examples=["leaves 2025"]
    )
    architecture: Network = Field("", description="Of a file: the network of timm that it is for.")
    trained_on: Text = Field("", description="The data set behind weights from elsewhere, in words.")
    data: Ref = Field("", description="The same, if it is in the store: then they can be ranked.")
    labels: Ref = Field("", description="Its labels; empty: the classes that its images came with.")
    accuracy: float | None = Field(None, ge=0, le=1, description="On images that they had not seen.")
    licence: Annotated[str, Field(max_length=200)] = Field("", description="Under which they may be used.")
    project: Ref = Field("", description="Only for this project; empty: for everybody.")


class RankAsked(Asked):
    """A data set to compare with those behind the weights for a network."""

    data: Ref = Field("", description="Empty: the project's.", examples=["leaves"])
    labels: Text = Field(
        "",
        description="A labels bundle or a CSV of the server; empty: the project's, or what the images came with.",
    )
    labels_upload: Ref = Field("", description="Or the id of an upload: one CSV with the columns file and class.")
    project: Ref = ""
    network: Network = Field(TrainSettings().start, description="A card, a short name or a name of timm.")
    size: int = Field(TrainSettings().size, ge=8, le=1024, description="Side of the images in pixels.")


class CompareAsked(Asked):
    """Data sets to lay beside each other."""

    data: list[Ref] = Field(max_length=1000, description="Two or more data sets.", examples=[["leaves", "wheat 2025"]])
