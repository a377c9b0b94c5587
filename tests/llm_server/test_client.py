import math

import pytest

from llm_server.client import Exchange, LlmClient, completion_text, first_token_logprobs
from llm_server.errors import MissingFeature, Overloaded, Rejected, Unreachable
from llm_server.fake import FakeModel, serve
from llm_server.ranker import LlmRanker


def test_probe_finds_model_context_and_logprobs() -> None:
    with serve(FakeModel()) as url:
        facts = LlmClient(url).probe()
    assert (facts.model, facts.context_length, facts.max_logprobs) == ("fake-coder", 8192, 20)


def test_an_unknown_model_is_named_with_those_served() -> None:
    with serve(FakeModel()) as url, pytest.raises(MissingFeature, match="served are: fake-coder"):
        LlmClient(url, model="other").probe()


def test_a_server_without_logprobs_is_refused_at_start() -> None:
    with serve(FakeModel(weights=lambda _: {})) as url, pytest.raises(MissingFeature, match="--max-logprobs"):
        LlmClient(url).probe()


def test_nobody_listening_is_unreachable_and_says_what_to_do() -> None:
    with pytest.raises(Unreachable, match="is the server up"):
        LlmClient("http://127.0.0.1:9", retries=0).probe()


def test_overload_is_retried_and_then_answered() -> None:
    model = FakeModel(choose=lambda _: "hello", failures=[503, 429])
    with serve(model) as url:
        answer = LlmClient(url, model="fake-coder", pause=0.01).complete("p", max_tokens=1)
    assert completion_text(answer) == "hello" and len(model.requests) == 3


def test_overload_that_lasts_is_an_error() -> None:
    with serve(FakeModel(failures=[503] * 9)) as url, pytest.raises(Overloaded):
        LlmClient(url, model="fake-coder", pause=0.01).complete("p", max_tokens=1)


def test_a_rejected_request_is_not_retried() -> None:
    model = FakeModel(failures=[400])
    with serve(model) as url, pytest.raises(Rejected):
        LlmClient(url, model="fake-coder", pause=0.01).complete("p", max_tokens=1)
    assert len(model.requests) == 1


def test_the_same_request_is_answered_from_the_cache_and_logged_so() -> None:
    log: list[Exchange] = []
    model = FakeModel(choose=lambda _: "x")
    with serve(model) as url:
        client = LlmClient(url, model="fake-coder", log=log.append)
        assert client.complete("p", max_tokens=1) == client.complete("p", max_tokens=1)
    assert len(model.requests) == 1
    assert [entry.cached for entry in log] == [False, True]


def test_logprobs_of_nonsense_are_empty() -> None:
    for record in (None, {}, {"top_logprobs": []}, {"top_logprobs": ["x"]}, {"top_logprobs": [{"A": "b"}]}):
        assert first_token_logprobs({"choices": [{"text": "", "logprobs": record}]}) == {}


def _prefers(wanted: str) -> FakeModel:
    def weights(prompt: str) -> dict[str, float]:
        lines = [line.split(": ", 1) for line in prompt.splitlines() if ": " in line]
        return {f" {line[0]}": 0.9 if line[1] == wanted else 0.01 for line in lines if len(line[0]) == 1} or {"A": 1.0}

    return FakeModel(weights=weights)


@pytest.mark.parametrize("wanted", ["unroll{site=i}", "parallelize{site=j}"])
def test_the_ranker_gives_most_weight_to_the_action_behind_the_likeliest_label(wanted: str) -> None:
    actions = ["vectorize{site=i}", "unroll{site=i}", "parallelize{site=j}"]
    with serve(_prefers(wanted)) as url:
        client = LlmClient(url)
        weights = LlmRanker(client, client.probe(), "avx512_vnni").rank("for i ...", actions)
    assert actions[weights.index(max(weights))] == wanted
    assert math.isclose(max(weights), 0.9)


def test_labels_that_the_server_does_not_report_get_little_weight() -> None:
    with serve(FakeModel(weights=lambda _: {"A": 0.5, "zzz": 0.4})) as url:
        client = LlmClient(url)
        weights = LlmRanker(client, client.probe(), "avx512_vnni").rank("p", ["a", "b", "c"])
    assert sorted(weights) == [0.25, 0.25, 0.5]
