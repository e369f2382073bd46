"""Results on disk: nothing is lost by a kill, nothing is joined that does not belong together."""

import pytest

from deskhand.bench.cluster.run import run_one, summarise
from deskhand.errors import DeskhandError
from deskhand.trials.campaigns.campaign import Campaign, Case, Ended, Shard, function_named, name_of
from deskhand.trials.campaigns.execute import execute
from deskhand.trials.campaigns.local_pool import Inline
from deskhand.trials.campaigns.results import ResultsFile, header_of, merge, read_results


def campaign(count=6, run=run_one, **settings):
    return Campaign("bench cluster", {"seconds": 0.0, **settings}, [Case(f"case_{n}", {"n": n}) for n in range(count)], run, summarise)


def number_of(case):
    return {"n": case.arguments["n"], "success": case.arguments["n"] % 2 == 0}


def write(path, shard="1/1", skip=(), extra=(), **settings):
    of = campaign(**settings)
    with ResultsFile(path, header_of(of, Shard.parse(shard))) as file:
        file.open(resume=False)
        for case in [*Shard.parse(shard).of(of.cases), *extra]:
            if case.id not in skip:
                file.add(Ended(case, number_of(case)))
    return path


def run(path, resume=False, of=None, shard="1/1"):
    return execute(of or campaign(run=number_of), Inline(), Shard.parse(shard), path, resume, lambda *_: None, lambda _: None)


def test_shards_share_out_all_cases_and_merge_in_order(tmp_path):
    files = [write(tmp_path / f"{n}.jsonl", f"{n}/3") for n in (3, 1, 2)]
    joined = merge(files)
    assert [result["n"] for result in joined.results.values()] == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("second", "says"),
    [
        ({"shard": "2/2", "light": "dark"}, "light null or \"dark\""),
        ({"shard": "2/2", "count": 8}, "6 cases or 8"),
        ({"shard": "2/2", "extra": [Case("case_0", {"n": 0})]}, "case_0"),
        ({"shard": "2/2", "skip": ["case_3"]}, "case_3.*shard 2/2 again with --resume"),
        ({"shard": "1/2"}, "case_0"),
        ({"shard": "2/3"}, "case_4"),
    ],
)  # fmt: skip
def test_mixed_settings_doubles_and_gaps_are_refused_by_name(second, says, tmp_path):
    with pytest.raises(DeskhandError, match=says) as caught:
        merge([write(tmp_path / "a.jsonl", "1/2"), write(tmp_path / "b.jsonl", **second)])
    assert caught.value.code == "invalid_input"


def test_a_shard_that_was_not_given_is_named(tmp_path):
    with pytest.raises(DeskhandError, match="shard 2/3 was not given"):
        merge([write(tmp_path / "a.jsonl", "1/3"), write(tmp_path / "c.jsonl", "3/3")])


@pytest.mark.parametrize("cut", range(1, 60, 7))
def test_a_kill_at_any_byte_loses_at_most_the_result_in_flight(cut, tmp_path):
    path = write(tmp_path / "a.jsonl")
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    before = read_results(path)
    assert len(before.results) >= 5
    ran = []

    def again(case):
        ran.append(case.id)
        return number_of(case)

    done = run(path, resume=True, of=campaign(run=again))
    assert ran == before.missing and [result["n"] for result in done.results.values()] == [0, 1, 2, 3, 4, 5]
    assert not read_results(path).missing and len(path.read_text().splitlines()) == 7


def test_a_campaign_that_was_cut_is_not_overwritten_and_a_finished_one_is(tmp_path):
    path = write(tmp_path / "a.jsonl", skip=["case_4"])
    kept = path.read_bytes()
    with pytest.raises(DeskhandError, match=r"5 of 6 results.*--resume"):
        run(path)
    assert path.read_bytes() == kept
    run(path, resume=True)
    assert len(run(path).results) == 6


def test_other_settings_or_another_shard_do_not_go_on_with_a_file(tmp_path):
    path = write(tmp_path / "a.jsonl", skip=["case_4"])
    with pytest.raises(DeskhandError, match=r"seconds 0\.0 or 2"):
        run(path, resume=True, of=campaign(run=number_of, seconds=2))
    with pytest.raises(DeskhandError, match="shard 1/1 or 1/2"):
        run(path, resume=True, shard="1/2")


def test_a_file_of_something_else_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "notes.jsonl"
    path.write_text("milk\nbread\n")
    for resume in (False, True):
        with pytest.raises(DeskhandError, match="no results"):
            run(path, resume=resume)
    assert path.read_text() == "milk\nbread\n"


def test_a_file_that_another_process_writes_is_refused(tmp_path):
    with ResultsFile(tmp_path / "a.jsonl", header_of(campaign(), Shard())) as file:
        file.open(resume=False)
        with pytest.raises(DeskhandError, match="another process"):
            run(tmp_path / "a.jsonl", resume=True)


def test_an_exception_is_no_result_and_is_run_again(tmp_path):
    path, broken = tmp_path / "a.jsonl", ["case_1", "case_4"]

    def fragile(case):
        if case.id in broken:
            raise DeskhandError("no_frame", "the lamp is off.") if case.id == "case_1" else ZeroDivisionError("x")
        return number_of(case)

    done = run(path, of=campaign(run=fragile))
    assert done.failed.keys() == {"case_1", "case_4"} and done.failed["case_1"][0] == "no_frame" and done.failed["case_4"][0] == "internal_error"
    with pytest.raises(DeskhandError, match="2 of 6 cases have no result: case_1, case_4"):
        merge([path])
    broken.clear()
    assert len(run(path, resume=True, of=campaign(run=fragile)).results) == 6
    assert len(merge([path]).results) == 6


def test_a_harness_that_only_fails_ends_soon(tmp_path):
    def broken(case):
        raise ZeroDivisionError("always")

    with pytest.raises(DeskhandError, match="10 cases and no result"):
        run(None, of=campaign(500, run=broken))


@pytest.mark.parametrize("text", ["0/3", "4/3", "3", "a/b", "1/0", "-1/3"])
def test_a_shard_is_a_number_of_a_number(text):
    with pytest.raises(DeskhandError, match="--shards"):
        Shard.parse(text)


def test_functions_are_named_and_only_those_of_deskhand_are_called_by_name():
    assert function_named(name_of(summarise)) is summarise
    for name in ("os:system", "deskhand.nothing:here", "deskhand.bench.cluster.run:nothing", "deskhand"):
        with pytest.raises(DeskhandError):
            function_named(name)
    with pytest.raises(DeskhandError, match="cases twice: a"):
        Campaign("x", {}, [Case("a"), Case("a")], run_one, summarise)
