"""Augmentation, by its effect on images one can read."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from labelsieve.classifiers.augmentation import moderate, strong, views, weak
from tests.problems import quick_classifier, striped_images


@pytest.fixture(autouse=True)
def _own_draws():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        yield


def one_bright_pixel(n: int, channels: int) -> torch.Tensor:
    images = torch.zeros(n, channels, 16, 24)
    images[:, :, 8, 6] = 1.0
    return images


def test_grey_images_are_shifted_by_an_eighth_at_most_and_never_mirrored():
    _, _, rows, columns = torch.nonzero(weak(one_bright_pixel(2000, 1)), as_tuple=True)
    assert (len(rows), len(columns)) == (2000, 2000)  # nothing lost, nothing doubled this far from the edge
    assert sorted(set(rows.tolist())) == list(range(6, 11))
    assert sorted(set(columns.tolist())) == list(range(3, 10))


def test_colour_images_are_also_mirrored_half_of_the_time_all_channels_alike():
    shown = weak(one_bright_pixel(2000, 3))
    assert torch.equal(shown[:, 0], shown[:, 1])
    _, _, _, columns = torch.nonzero(shown[:, :1], as_tuple=True)
    assert set(columns.tolist()) == {*range(3, 10), *range(14, 21)}
    assert (columns > 12).float().mean() == pytest.approx(0.5, abs=0.05)


def test_the_gap_at_the_edge_is_filled_with_what_lies_there():
    columns = torch.arange(16.0).expand(500, 1, 16, 16)
    shown = weak(columns)
    steps = (shown[:, 0, 0, 1:] - shown[:, 0, 0, :-1]).abs()
    assert (steps == 1).all()  # reflected at the edge, and neither torn nor filled with zeros


def test_moderate_augmentation_cuts_a_square_of_a_quarter_out_of_colour_images_alone():
    white = torch.full((400, 3, 32, 32), 5.0)
    holes = (moderate(white) == 0).all(dim=1)
    assert holes.any(dim=2).sum(dim=1).max() == holes.any(dim=1).sum(dim=1).max() == 8
    assert holes.sum(dim=(1, 2)).float().mean() > 40  # of 64, the others beyond the edge
    assert torch.equal(moderate(white[:, :1]), white[:, :1])
    features = torch.randn(5, 7)
    assert torch.equal(moderate(features), features)


def test_strong_augmentation_changes_every_image_in_its_own_way_and_keeps_shape_and_range():
    images = torch.randn(50, 3, 32, 32)
    shown = strong(images)
    assert shown.shape == images.shape
    assert torch.isfinite(shown).all()
    assert shown.abs().max() < 20
    same = strong(images[:1].expand(50, -1, -1, -1))
    assert len({image.sum().item() for image in same}) == 50


def test_strong_augmentation_cuts_a_piece_out_of_most_images():
    shown = strong(torch.full((400, 1, 16, 16), 5.0))
    share = (shown == 0).float().mean(dim=(1, 2, 3))
    assert share.max() <= 0.25 + 0.1
    assert 0.03 < share.mean() < 0.15
    assert (share > 0).float().mean() > 0.8


def test_features_are_left_alone_weakly_and_get_noise_and_gaps_strongly():
    features = torch.full((300, 40), 3.0)
    assert weak(features) is features
    shown = strong(features)
    assert (shown == 0).float().mean() == pytest.approx(0.2, abs=0.02)
    assert shown[shown != 0].std() == pytest.approx(0.1, abs=0.01)


def test_views_are_an_image_and_its_mirror_image_in_their_place_and_towards_two_corners():
    found = [tuple(torch.nonzero(view[0, 0])[0].tolist()) for view in views(one_bright_pixel(1, 3))]
    mirrored = 24 - 1 - 6
    towards = [(7, 4), (7, mirrored - 2), (9, 8), (9, mirrored + 2)]  # a sixteenth of 16 and of 24, rounded
    assert found == [(8, 6), (8, mirrored), *towards]
    assert all(view.sum() == 3 for view in views(one_bright_pixel(1, 3)))


@pytest.mark.parametrize("points", [one_bright_pixel(2, 1), torch.ones(2, 5)], ids=["grey", "features"])
def test_anything_else_is_viewed_as_it_is(points):
    assert [torch.equal(view, points) for view in views(points)] == [True]


@pytest.mark.parametrize(("name", "alike"), [("resnet", True), ("cnn", False)])
def test_who_has_learned_from_mirror_images_says_the_same_of_an_image_and_its_mirror_image(name, alike):
    x, y = striped_images(40)
    coloured = np.repeat(x[..., None], 3, axis=3)
    classifier = quick_classifier(name).set_params(epochs=1).fit(coloured, y, 3, seed=0)
    here, there = (classifier.outputs(np.ascontiguousarray(shown)) for shown in (coloured, coloured[:, :, ::-1]))
    for one, other in ((here.logits, there.logits), (here.features, there.features)):
        assert np.allclose(one, other, atol=1e-4) == alike
