"""From a file of data to labels, with the command line alone."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from labelsieve.cli.main import main
from labelsieve.data.embeddings import sentence_model
from labelsieve.errors import AnswersUsedError, DataError, LabelsieveWarning, ProjectError
from labelsieve.project import Project
from labelsieve.project.people import decisions
from labelsieve.store.database import Database
from labelsieve.store.reviews import Review, Reviews
from tests.integration.posts import CLASSES, exported, made, write_posts

KILLS = int(os.environ.get("LABELSIEVE_KILLS", "5"))


@pytest.fixture(scope="module")
def posts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """900 short texts of three topics, with an id, a number and the truth."""
    return write_posts(tmp_path_factory.mktemp("data") / "posts.csv")


def _without_rhyme_or_reason(posts: Path, path: Path) -> Path:
    """The same texts with topics that have nothing to do with them."""
    table = pd.read_csv(posts, dtype=str)
    table["topic"] = table["topic"].sample(frac=1, random_state=0).to_numpy()
    table.to_csv(path, index=False)
    return path


class TestRehearsal:
    def test_from_a_file_to_labels(self, tmp_path: Path, posts: Path, capsys: pytest.CaptureFixture[str]) -> None:
        folder = made(tmp_path / "project", posts)
        said = capsys.readouterr().out
        assert "900" in said
        assert f"labelsieve run {folder}" in said
        assert main(["run", str(folder), "--simulate", "topic"]) == 0
        assert "Finished" in capsys.readouterr().out
        labels = exported(folder)
        assert list(labels.columns[:2]) == ["id", "label"]
        truth = pd.read_csv(posts, dtype=str).set_index("post")["topic"]
        machine = labels[labels["source"] == "machine"]
        assert len(machine) > 200
        assert (truth[machine["id"]].to_numpy() != machine["label"]).mean() <= 0.05
        people = labels[labels["source"] == "human"]
        assert set(people["annotator"]) == {"simulated"}
        assert (truth[people["id"]].to_numpy() == people["label"]).all()
        assert machine[["confidence", "threshold", "model"]].notna().all().all()
        assert (folder / "report" / "report.html").stat().st_size > 10_000

    def test_a_rehearsal_counts_the_wrong_machine_labels(
        self, tmp_path: Path, posts: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        table = pd.read_csv(posts, dtype=str)
        table.loc[::20, "topic"] = table.loc[::20, "topic"].map(dict(zip(CLASSES, CLASSES[::-1], strict=True)))
        table.to_csv(tmp_path / "noisy.csv", index=False)
        folder = made(tmp_path / "project", tmp_path / "noisy.csv", "--tolerance", "0.2")
        assert main(["run", str(folder), "--simulate", "topic"]) == 0
        said = capsys.readouterr().out
        machine = exported(folder, "--only", "machine")
        wrong = (table.set_index("post")["topic"][machine["id"]].to_numpy() != machine["label"]).sum()
        assert wrong > 5
        assert f"\nby the simulated labels, {wrong} of {len(machine)} machine labels are wrong (" in said
        page, counted = folder / "report" / "report.html", f"{wrong} of {len(machine)}, against the truth"
        assert counted in page.read_text()
        page.unlink()
        assert main(["report", str(folder)]) == 0
        assert counted in page.read_text()
        (tmp_path / "noisy.csv").unlink()
        with Project(folder) as project, pytest.warns(LabelsieveWarning, match="shows an estimate: .*noisy"):
            project.report()
        assert "against the truth" not in page.read_text()

    def test_what_is_left_in_the_end_is_said(
        self, tmp_path: Path, posts: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        table = pd.read_csv(posts, dtype=str)
        table.loc[::5, "body"] += " " + table["body"].shift(1, fill_value="")  # about two topics at once
        table.to_csv(tmp_path / "unclear.csv", index=False)
        folder = made(tmp_path / "project", tmp_path / "unclear.csv", "--tolerance", "0.06")
        for command in (["run", str(folder), "--simulate", "topic"], ["status", str(folder)]):
            capsys.readouterr()
            assert main(command) == 0
            said = capsys.readouterr().out
            left = 900 - len(exported(folder))
            assert 0 < left < 300
            assert f"\n{left} items are left without a label" in said
            assert f"--answers-from {folder}\n" in said

    def test_a_run_that_labels_nothing_says_why(
        self, tmp_path: Path, posts: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        folder = made(tmp_path / "project", _without_rhyme_or_reason(posts, tmp_path / "noise.csv"))
        for command in (["run", str(folder), "--simulate", "topic"], ["status", str(folder)]):
            capsys.readouterr()
            assert main(command) == 0
            said = capsys.readouterr().out
            assert "\n670 items are left without a label" in said
            assert "\nNo class reached a threshold that passed, so nothing was labelled by machine." in said

    def test_a_column_without_a_class_is_refused_before_features_are_made(
        self, tmp_path: Path, posts: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        folder = made(tmp_path / "project", posts)
        assert main(["run", str(folder), "--simulate", "likes"]) == 2
        assert "must hold one of the classes" in capsys.readouterr().err
        assert not list(folder.rglob("*.npy"))

    def test_one_value_that_is_no_class_is_named_before_features_are_made(
        self, tmp_path: Path, posts: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        folder = made(tmp_path / "project", posts)
        config = folder / "labelsieve.toml"
        config.write_text(config.read_text().replace('"food"', '"fod"'))
        assert main(["run", str(folder), "--simulate", "topic"]) == 2
        said = capsys.readouterr().err
        n = (pd.read_csv(posts)["topic"] == "food").sum()
        assert (
            f"'food' is no class (did you mean 'fod'?); the classes are animals, fod, travel. Items with it: {n}."
            in said
        )
        assert f"correct it in {posts}, or change classes in {config}." in said
        assert not list(folder.rglob("*.npy"))

    def test_labels_that_are_missing_are_refused_only_when_asked_for(
        self, tmp_path: Path, posts: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        table = pd.read_csv(posts, dtype=str)
        table.assign(topic="").to_csv(tmp_path / "none.csv", index=False)
        assert main(["run", str(made(tmp_path / "none", tmp_path / "none.csv")), "--simulate", "topic"]) == 2
        assert "for every item; it holds nothing. Simulate from another column" in capsys.readouterr().err
        assert not list((tmp_path / "none").rglob("*.npy"))
        table["topic"] = table["topic"].where(table.index % 2 == 0)
        table.to_parquet(tmp_path / "half.parquet")
        assert main(["run", str(made(tmp_path / "half", tmp_path / "half.parquet")), "--simulate", "topic"]) == 2
        assert "it holds none. Simulate from another column" in capsys.readouterr().err

    def test_the_column_to_simulate_from_is_never_a_feature(self, tmp_path: Path, posts: Path) -> None:
        folder = made(tmp_path / "project", posts)
        with Project(folder) as project:
            assert all(topic not in json.dumps(project.items.take(np.arange(5))) for topic in ("topic", "likes"))
        table = tmp_path / "table"
        arguments = ["init", str(table), "--data", str(posts), "--classes", ",".join(CLASSES)]
        assert main([*arguments, "--features", "likes,topic", "--id", "post"]) == 0
        assert main(["run", str(table), "--simulate", "topic"]) == 2


class TestPeople:
    def test_a_csv_there_and_back_over_days(
        self, tmp_path: Path, posts: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        folder, questions = made(tmp_path / "project", posts), tmp_path / "questions.csv"
        truth = pd.read_csv(posts, dtype=str).set_index("post")["topic"]
        batches = 0
        while True:
            assert main(["run", str(folder)]) == 0
            with Project(folder) as project:
                if not project.status().waiting:
                    break
            assert main(["ask", str(folder), "--out", str(questions)]) == 0
            asked = pd.read_csv(questions, dtype=str, keep_default_na=False)
            half = len(asked) // 2
            asked["label"] = truth[asked["id"]].to_numpy()
            asked.loc[half:, "label"] = ""
            asked.to_csv(questions, index=False)
            assert main(["answer", str(folder), str(questions), "--annotator", "ann"]) == 0
            capsys.readouterr()
            assert main(["run", str(folder)]) == 0  # too early: it says so and changes nothing
            assert "needed from people" in capsys.readouterr().out
            assert main(["ask", str(folder), "--out", str(questions)]) == 0
            rest = pd.read_csv(questions, dtype=str, keep_default_na=False)
            assert list(rest["id"]) == list(asked["id"][half:])
            rest["label"] = truth[rest["id"]].to_numpy()
            rest.to_csv(questions, index=False)
            assert main(["answer", str(folder), str(questions), "--annotator", "bob"]) == 0
            batches += 1
        assert batches >= 4
        by_people = exported(folder, "--only", "human")
        assert set(by_people["annotator"]) == {"ann", "bob"}
        rehearsed = made(tmp_path / "rehearsed", posts)
        assert main(["run", str(rehearsed), "--simulate", "topic"]) == 0
        same = ["id", "label", "source", "round", "confidence", "model"]
        pd.testing.assert_frame_equal(exported(folder)[same], exported(rehearsed)[same])

    @pytest.mark.parametrize(("overlap", "told"), [(1, ("5", "")), (2, ("0", " (5 answers)"))])
    def test_answers_to_a_batch_that_is_not_complete_are_counted(
        self, tmp_path: Path, posts: Path, overlap: int, told: tuple[str, str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        folder = made(tmp_path / "project", posts)
        config = folder / "labelsieve.toml"
        config.write_text(config.read_text().replace("overlap = 1", f"overlap = {overlap}"))
        assert main(["run", str(folder)]) == 0
        with Project(folder) as project:
            project.answer((id_, "food", "ann") for id_ in project.asked_ids()[:5])
        capsys.readouterr()
        decided, answers = told
        assert main(["run", str(folder)]) == 0
        assert f" {decided} labelled by people{answers} ·" in capsys.readouterr().out
        assert main(["status", str(folder)]) == 0
        assert f"labels of people {decided} to learn from, 0 to check with{answers}\n" in capsys.readouterr().out

    def test_several_people_per_item(self, tmp_path: Path, posts: Path, capsys: pytest.CaptureFixture[str]) -> None:
        folder = made(tmp_path / "project", posts)
        config = folder / "labelsieve.toml"
        config.write_text(config.read_text().replace("overlap = 1", "overlap = 3"))
        assert main(["run", str(folder)]) == 0
        with Project(folder) as project:
            first, second = project.questions()["id"].iloc[:2]
            for name, label in (("ann", "food"), ("bob", "food"), ("cid", "travel")):
                assert first in set(project.questions()["id"])
                project.answer([(first, label, name), (second, CLASSES["abc".index(name[0])], name)])
            assert project.agreement().items == 2
            left = set(project.questions()["id"])
            assert first not in left  # two of three agree
            assert second in left  # three say three things
        capsys.readouterr()
        assert main(["status", str(folder)]) == 0
        assert "Fleiss' kappa" in capsys.readouterr().out
        assert main(["status", str(folder), "--json"]) == 0
        told = json.loads(capsys.readouterr().out)["agreement"]
        # By hand: 1 of 3 pairs agree on the first item, none on the second; animals 1, food 3, travel 2 of 6 answers.
        chance = (1 + 9 + 4) / 36
        assert told["share alike"] == pytest.approx(1 / 6)
        assert told["Fleiss' kappa"] == pytest.approx((1 / 6 - chance) / (1 - chance))

    def test_an_answer_to_a_batch_that_is_over(
        self, tmp_path: Path, posts: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        folder, questions = made(tmp_path / "project", posts), tmp_path / "questions.csv"
        assert main(["run", str(folder)]) == 0
        assert main(["ask", str(folder), "--out", str(questions)]) == 0
        asked = pd.read_csv(questions, dtype=str, keep_default_na=False)
        asked["label"] = pd.read_csv(posts, dtype=str).set_index("post")["topic"][asked["id"]].to_numpy()
        asked.to_csv(questions, index=False)
        for command in (["answer", str(folder), str(questions)], ["run", str(folder)]):
            assert main(command) == 0
        capsys.readouterr()
        assert main(["answer", str(folder), str(questions)]) == 2
        first = asked["id"].iloc[0]
        assert f"line 2: the id {first!r} has its label already, its batch is over" in capsys.readouterr().err
        with Project(folder) as project, pytest.raises(DataError, match="has its label already"):
            project.answer([(first, "food", "ann")])

    def test_an_answer_counts_once(self, tmp_path: Path, posts: Path, capsys: pytest.CaptureFixture[str]) -> None:
        folder, questions = made(tmp_path / "project", posts), tmp_path / "questions.csv"
        assert main(["run", str(folder)]) == 0
        assert main(["ask", str(folder), "--out", str(questions), "--limit", "3"]) == 0
        asked = pd.read_csv(questions, dtype=str, keep_default_na=False)
        for labels, told in (
            (["food", "food", ""], "kept 2 new answers, 0 changed ones; 0 were known\n"),
            (["food", "travel", "food"], "kept 1 new answers, 1 changed ones; 1 were known\n"),
        ):
            asked.assign(label=labels).to_csv(questions, index=False)
            capsys.readouterr()
            assert main(["answer", str(folder), str(questions)]) == 0
            assert told in capsys.readouterr().out
        with Project(folder) as project:
            (answers,) = project.database.read("SELECT count(*) FROM answers").fetchone()
            assert answers == 4  # what was known is not written again
        assert main(["answer", str(folder), str(tmp_path / "none.csv")]) == 2
        assert f"there is no {tmp_path / 'none.csv'}. Check the name" in capsys.readouterr().err

    def test_answers_nobody_asked_for_are_refused(self, tmp_path: Path, posts: Path) -> None:
        folder = made(tmp_path / "project", posts)
        assert main(["run", str(folder)]) == 0
        with Project(folder) as project:
            asked = project.questions()["id"].iloc[0]
            other = next(id_ for id_ in project.items.ids() if id_ not in set(project.questions()["id"]))
            for answers, message in (
                ([(asked, "food", "ann"), (other, "food", "ann")], "asked about now"),
                ([(asked, "drinks", "ann")], "must be one of"),
            ):
                with pytest.raises(DataError, match=message):
                    project.answer(answers)
            assert not len(project.answers.table())


class TestCare:
    def test_killed_again_and_again_it_ends_as_if_nothing_had_happened(self, tmp_path: Path, posts: Path) -> None:
        calm, harried = (made(tmp_path / name, posts) for name in ("calm", "harried"))
        assert main(["run", str(calm), "--simulate", "topic"]) == 0
        command = [sys.executable, "-m", "labelsieve", "run", str(harried), "--simulate", "topic"]
        rng = random.Random(KILLS)
        started = time.monotonic()
        subprocess.run([*command[:-2], "--help"], capture_output=True, check=True)
        long = 4 * (time.monotonic() - started) + 2
        killed = 0
        while killed < KILLS:
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(rng.uniform(0, long))
            if process.poll() is not None:  # it had ended before
                long /= 2
            process.kill()
            process.wait()
            killed += 1
            with Database(harried / "project.sqlite") as database:
                assert database.is_whole()
            with Project(harried) as project:
                project.status()
        assert main(["run", str(harried), "--simulate", "topic"]) == 0
        pd.testing.assert_frame_equal(exported(harried), exported(calm))

    def test_interrupted_it_says_how_to_go_on(
        self, tmp_path: Path, posts: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        folder = made(tmp_path / "project", posts)

        def interrupted(*_: object, **__: object) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patched:
            patched.setattr(Project, "run", interrupted)
            assert main(["run", str(folder)]) == 130
        said = capsys.readouterr().err
        assert said.endswith("interrupted. All that was finished is kept; the same command goes on from there.\n")

    def test_a_second_process_is_told_who_has_it(self, tmp_path: Path, posts: Path) -> None:
        from labelsieve.store.lock import held

        folder = made(tmp_path / "project", posts)
        with held(folder / "project.lock", "labelsieve run"), pytest.raises(ProjectError, match="process"):
            Project(folder).run(simulate="topic", progress=False)

    def test_status_says_that_a_run_is_at_work(
        self, tmp_path: Path, posts: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        from labelsieve.store.lock import held

        folder = made(tmp_path / "project", posts)
        with held(folder / "project.lock", "labelsieve run"):
            capsys.readouterr()
            assert main(["status", str(folder)]) == 0
            assert f"The machine is at work, process {os.getpid()} on " in capsys.readouterr().out
            assert main(["status", str(folder), "--json"]) == 0
            assert "labelsieve run" in json.loads(capsys.readouterr().out)["at_work"]
        assert main(["status", str(folder)]) == 0
        assert f"The machine's turn: labelsieve run {folder}" in capsys.readouterr().out

    def test_nothing_half_made(self, tmp_path: Path, posts: Path, capsys: pytest.CaptureFixture[str]) -> None:
        broken = tmp_path / "broken.csv"
        broken.write_text("body,topic\nfine,food\none,too,many\n")
        arguments = ["init", str(tmp_path / "p"), "--data", str(broken), "--classes", "food,travel", "--text"]
        assert main([*arguments, "body"]) == 2
        assert "Line 3" in capsys.readouterr().err
        assert main([*arguments, "bdoy"]) == 2
        assert "body" in capsys.readouterr().err
        full = made(tmp_path / "full", posts)
        assert main(["init", str(full), "--data", str(posts), "--classes", "a,b", "--text", "body"]) == 2
        assert sorted(path.name for path in tmp_path.iterdir()) == ["broken.csv", "full"]

    def test_settings_are_checked_all_at_once(self, tmp_path: Path, posts: Path) -> None:
        folder = made(tmp_path / "project", posts)
        config = folder / "labelsieve.toml"
        good = config.read_text()
        config.write_text(good.replace('confidence = "auto"', 'confidence = "sotfmax"').replace("0.05", "1.5", 1))
        with pytest.raises(ProjectError, match=r"labelling\.tolerance.*labelling\.confidence.*softmax"):
            Project(folder)
        for line, told in (
            ("[extra]", r"extra: no such key; the file has classes, data, features, labelling, people$"),
            ("[lablling]", r"lablling: no such key \(did you mean labelling\?\)"),
            ("confidance = 1", r"people\.confidance: no such key \(did you mean labelling\.confidence\?\)"),
            ("overlpa = 1", r"people\.overlpa: no such key \(did you mean overlap\?\); \[people\] has overlap$"),
        ):
            config.write_text(f"{good}{line}\n")
            with pytest.raises(ProjectError, match=rf"^{re.escape(str(config))} cannot be used: {told}"):
                Project(folder)
        with pytest.raises(ProjectError, match="labelsieve init"):
            Project(tmp_path)

    def test_shares_are_not_percentages(self, tmp_path: Path, posts: Path, capsys: pytest.CaptureFixture[str]) -> None:
        data = ["--data", str(posts), "--classes", "a,b", "--text", "body"]
        for option, told in (("--tolerance", "(0.05 allows 5 % wrong machine labels)"), ("--delta", "one run of 20)")):
            assert main(["init", str(tmp_path / "p"), *data, option, "5"]) == 2
            assert f"{told}; got 5.0" in capsys.readouterr().err
        assert main(["init", str(tmp_path / "p"), *data, "--train-budget", "0"]) == 2
        assert "labelling.train_budget: Input should be greater than or equal to 1; got 0" in capsys.readouterr().err

    def test_a_promise_once_begun_cannot_be_changed(self, tmp_path: Path, posts: Path) -> None:
        folder = made(tmp_path / "project", posts)
        assert main(["run", str(folder)]) == 0
        config = folder / "labelsieve.toml"
        config.write_text(config.read_text().replace("tolerance = 0.05", "tolerance = 0.2"))
        assert main(["run", str(folder)]) == 2

    def test_a_text_model_installed_later_does_not_change_a_project(
        self, tmp_path: Path, posts: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder = made(tmp_path / "project", posts)
        assert main(["run", str(folder)]) == 0
        chosen = sentence_model.chosen_model
        monkeypatch.setattr(
            sentence_model, "chosen_model", lambda name: "from the future" if name == "auto" else chosen(name)
        )
        assert main(["run", str(folder)]) == 0


class TestCareForAnswers:
    """What a reader of the code found, each with the way it went wrong."""

    def test_a_file_that_somebody_fills_in_is_not_written_over(self, tmp_path: Path, posts: Path) -> None:
        folder, questions = made(tmp_path / "project", posts), tmp_path / "questions.csv"
        assert main(["run", str(folder)]) == 0
        assert main(["ask", str(folder), "--out", str(questions)]) == 0
        assert main(["ask", str(folder), "--out", str(questions)]) == 0  # nothing is filled in yet
        asked = pd.read_csv(questions, dtype=str, keep_default_na=False)
        asked.loc[:2, "label"] = "food"
        asked.to_csv(questions, index=False)
        filled = questions.read_bytes()
        assert main(["ask", str(folder), "--out", str(questions)]) == 2
        assert questions.read_bytes() == filled

    def test_an_answer_that_comes_too_late_is_refused_and_not_lost_silently(self, tmp_path: Path, posts: Path) -> None:
        folder = made(tmp_path / "project", posts)
        assert main(["run", str(folder)]) == 0
        with Project(folder) as project, Project(folder) as late:
            ids = project.asked_ids()
            project.answer((id_, "food", "ann") for id_ in ids)
            rows = [project.items.row_of(id_) for id_ in ids]
            add = late.answers.add

            def after_the_run_has_read(answers):
                checked = list(answers)
                assert project.answers.use(rows, lambda table: decisions(table, 1)) is not None
                add(checked)

            late.answers.add = after_the_run_has_read
            with pytest.raises(AnswersUsedError, match="Nothing was kept"):
                late.answer([(ids[0], "travel", "ann")])
            assert set(project.answers.table()["label"]) == {"food"}
            assert not project.answers.take_back(rows[0], "ann")

    def test_people_and_rehearsals_do_not_mix(self, tmp_path: Path, posts: Path) -> None:
        folder = made(tmp_path / "people", posts)
        assert main(["run", str(folder)]) == 0
        with Project(folder) as project:
            project.answer([(project.asked_ids()[0], "food", "ann")])
        assert main(["run", str(folder), "--simulate", "topic"]) == 2
        rehearsal = made(tmp_path / "rehearsal", posts)
        assert main(["run", str(rehearsal), "--simulate", "topic"]) == 0
        assert main(["run", str(rehearsal)]) == 2

    def test_a_rehearsal_finds_the_truth_by_id(self, tmp_path: Path, posts: Path) -> None:
        copy = tmp_path / "copy.csv"
        copy.write_bytes(posts.read_bytes())
        folder = made(tmp_path / "project", copy)
        table = pd.read_csv(copy, dtype=str)
        table.iloc[::-1].to_csv(copy, index=False)
        assert main(["run", str(folder), "--simulate", "topic"]) == 0
        people = exported(folder, "--only", "human")
        assert (table.set_index("post")["topic"][people["id"]].to_numpy() == people["label"]).all()
        table.iloc[:100].to_csv(copy, index=False)
        assert main(["run", str(folder), "--simulate", "topic"]) == 2

    def test_with_several_people_an_answer_has_a_name(self, tmp_path: Path, posts: Path) -> None:
        folder, questions = made(tmp_path / "project", posts), tmp_path / "questions.csv"
        config = folder / "labelsieve.toml"
        config.write_text(config.read_text().replace("overlap = 1", "overlap = 2"))
        assert main(["run", str(folder)]) == 0
        assert main(["ask", str(folder), "--out", str(questions)]) == 0
        assert main(["answer", str(folder), str(questions)]) == 2
        assert main(["answer", str(folder), str(questions), "--annotator", "ann"]) == 0

    def test_the_columns_of_a_table_are_named_and_a_label_among_them_is_refused(
        self, tmp_path: Path, posts: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        folder = tmp_path / "table"
        arguments = ["init", str(folder), "--data", str(posts), "--id", "post", "--classes", ",".join(CLASSES)]
        assert main([*arguments, "--features", "likes,topic"]) == 0
        assert "features (those named): likes, topic" in capsys.readouterr().out
        assert main(["run", str(folder), "--simulate", "topic"]) == 2

    def test_columns_nobody_named_are_features_only_where_they_look_like_it(
        self, tmp_path: Path, posts: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        arguments = ["init", str(tmp_path / "table"), "--id", "post", "--classes", ",".join(CLASSES)]
        assert main([*arguments, "--data", str(posts)]) == 2
        said = capsys.readouterr().err
        assert "'body' reads like text; 'topic' holds nothing but classes" in said
        assert "--features likes." in said
        assert not (tmp_path / "table").exists()
        table = pd.read_csv(posts, dtype=str).drop(columns="body")
        some = table.assign(topic=table["topic"].str.title().where(table["topic"] != "food", ""))
        some.to_csv(tmp_path / "some.csv", index=False)  # half labelled, and spelled as people do
        assert main([*arguments, "--data", str(tmp_path / "some.csv")]) == 2
        assert "'topic' holds nothing but classes" in capsys.readouterr().err
        table.assign(topic=table["topic"] + "!").to_csv(tmp_path / "other.csv", index=False)
        assert main([*arguments, "--data", str(tmp_path / "other.csv")]) == 0
        assert "features (every column, since none was named): likes, topic" in capsys.readouterr().out

    def test_features_computed_anew_elsewhere_are_the_same_project(self, tmp_path: Path, posts: Path) -> None:
        folder = made(tmp_path / "project", posts)
        assert main(["run", str(folder)]) == 0
        (matrix,) = (folder / "features").glob("*.npy")
        values = np.load(matrix)
        np.save(matrix, np.nextafter(values, np.float32(2)))  # as another processor might compute them
        assert main(["run", str(folder)]) == 0
        config = folder / "labelsieve.toml"
        config.write_text(config.read_text().replace("svd_dimensions = 400", "svd_dimensions = 20"))
        assert main(["run", str(folder)]) == 2

    def test_a_part_without_a_human_label_can_be_exported(
        self, tmp_path: Path, posts: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder = made(tmp_path / "project", posts)
        monkeypatch.setattr("labelsieve.project.labels._AT_ONCE", 3)
        assert len(exported(folder, "--all")) == 900
        assert main(["run", str(folder), "--simulate", "topic"]) == 0
        for name in ("csv", "jsonl", "parquet", "label-studio"):
            assert main(["export", str(folder), "--all", "--format", name, "--out", str(tmp_path / f"all.{name}")]) == 0

    def test_an_export_without_any_label_says_what_to_do(
        self, tmp_path: Path, posts: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        folder, out = made(tmp_path / "project", posts), tmp_path / "labels.csv"
        assert main(["export", str(folder), "--out", str(out)]) == 2
        said = capsys.readouterr().err
        assert f"nothing in {folder} is labelled yet" in said
        assert f"labelsieve run {folder}" in said
        assert main(["run", str(folder)]) == 0
        assert main(["export", str(folder), "--out", str(out)]) == 2
        assert f"labelsieve serve {folder}" in capsys.readouterr().err
        assert not out.exists()

    def test_the_name_of_an_export_tells_its_format(
        self, tmp_path: Path, posts: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        folder = made(tmp_path / "project", posts)
        out = tmp_path / "all.parquet"
        assert main(["export", str(folder), "--all", "--out", str(out)]) == 0
        assert len(pd.read_parquet(out)) == 900
        assert main(["export", str(folder), "--all", "--out", str(tmp_path / "all.jsonl")]) == 0
        assert len(pd.read_json(tmp_path / "all.jsonl", lines=True)) == 900
        whole = out.read_bytes()
        assert main(["export", str(folder), "--all", "--format", "csv", "--out", str(out)]) == 2
        assert "reads like parquet" in capsys.readouterr().err
        assert out.read_bytes() == whole

    def test_a_corrected_machine_label_is_the_persons(self, tmp_path: Path, posts: Path) -> None:
        folder = made(tmp_path / "project", posts)
        assert main(["run", str(folder), "--simulate", "topic"]) == 0
        before = exported(folder).set_index("id")
        first = before.index[before["source"] == "machine"][0]
        other = next(name for name in CLASSES if name != before.loc[first, "label"])
        with Project(folder) as project:
            Reviews(project.database).add([Review(project.items.row_of(first), other, "eve")])
        after = exported(folder).set_index("id")
        assert list(after.loc[first, ["label", "source", "annotator"]]) == [other, "human", "eve"]
        assert pd.isna(after.loc[first, ["confidence", "threshold", "model"]]).all()
        pd.testing.assert_frame_equal(after.drop(first), before.drop(first))

    @pytest.mark.parametrize("named", ["", "report"])
    def test_whoever_audits_a_project_sees_what_is_asked_about(self, tmp_path: Path, posts: Path, named: str) -> None:
        """Whether the project is named or the folder of its report."""
        folder = made(tmp_path / "project", posts)
        assert main(["run", str(folder), "--simulate", "topic"]) == 0
        assert main(["audit", str(folder / named), "--batch", "12"]) == 1
        questions = pd.read_csv(folder / "report" / "audit-questions.csv", dtype=str, keep_default_na=False)
        assert list(questions) == ["id", "content", "machine_label", "answer"]
        truth = pd.read_csv(posts, dtype=str).set_index("post")
        assert questions["content"].tolist() == truth.loc[questions["id"], "body"].tolist()
        questions["answer"] = truth.loc[questions["id"], "topic"].to_numpy()
        questions.to_csv(tmp_path / "answers.csv", index=False)
        assert main(["audit", str(folder / named), "--answers", str(tmp_path / "answers.csv"), "--batch", "5"]) == 1
        state = json.loads((folder / "report" / "audit.json").read_text(encoding="utf-8"))
        assert len(state["answers"]) == 12

    def test_texts_of_any_kind_are_audited(self, tmp_path: Path, posts: Path) -> None:
        """Line ends of all sorts, what looks like a formula, and letters of other languages."""
        odd = tmp_path / "odd.csv"
        table = pd.read_csv(posts, dtype=str)
        table["body"] = ['=1+1\ré,\r\nñ "' + text for text in table["body"]]
        table.to_csv(odd, index=False)
        folder = made(tmp_path / "project", odd)
        assert main(["run", str(folder), "--simulate", "topic"]) == 0
        assert main(["audit", str(folder), "--batch", "6"]) == 1
        path = folder / "report" / "audit-questions.csv"
        questions = pd.read_csv(path, dtype=str, keep_default_na=False)
        assert questions["content"].str.startswith("'=1+1").all()
        questions["answer"] = questions["machine_label"]
        questions.to_csv(path, index=False, lineterminator="\r\n")
        assert main(["audit", str(folder), "--answers", str(path), "--batch", "6"]) == 1
        assert len(json.loads((folder / "report" / "audit.json").read_text(encoding="utf-8"))["answers"]) == 6

    def test_what_only_lies_in_a_project_is_not_taken_for_its_report(self, tmp_path: Path, posts: Path) -> None:
        folder = made(tmp_path / "project", posts)
        assert main(["demo", "--out", str(folder / "elsewhere")]) == 0
        assert main(["audit", str(folder / "elsewhere"), "--batch", "5"]) == 1
        assert list(pd.read_csv(folder / "elsewhere" / "audit-questions.csv")) == ["id", "machine_label", "answer"]

    @pytest.mark.parametrize("classes", ["a,b,", "a", "a,a", "a,\x7fb"])
    def test_classes_that_cannot_work(
        self, tmp_path: Path, posts: Path, classes: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["init", str(tmp_path / "p"), "--data", str(posts), "--classes", classes, "--text", "body"]) == 2
        assert (
            "The project's settings cannot be used: classes must be at least two different" in capsys.readouterr().err
        )
        assert not (tmp_path / "p").exists()

    def test_an_empty_folder_can_be_used_and_a_broken_image_is_refused(
        self, tmp_path: Path, posts: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (tmp_path / "empty").mkdir()
        assert (made(tmp_path / "empty", posts) / "labelsieve.toml").exists()
        images = tmp_path / "images"
        images.mkdir()
        Image.new("L", (8, 8)).save(images / "good.png")
        (images / "bad.png").write_bytes((images / "good.png").read_bytes()[:40])
        assert main(["init", str(tmp_path / "p"), "--data", str(images), "--classes", "a,b"]) == 2
        said = capsys.readouterr()
        assert "bad.png" in said.out
        assert "readable" in said.err
