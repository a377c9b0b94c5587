"""Mutants of a program text: one small semantic change each, found by rules over the text of its code.

Comments, strings, preprocessor lines and host calls that move memory are left alone. The rules are of the kind of mistake that
translations make: operators, bounds, indexes, barriers, identities, tails, constants, lanes.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

Rewrite = Callable[[re.Match[str]], str]


@dataclass(frozen=True, slots=True)
class Rule:
    """``where`` says of a line whether the rule applies in it: ``any``, ``for`` (a loop header) or ``body`` (anything else)."""

    name: str
    pattern: str
    rewrite: Rewrite
    where: str = "any"


@dataclass(frozen=True, slots=True)
class Mutant:
    """``text`` differs from the original in one place: line ``line`` (from 1) became ``after``."""

    rule: str
    line: int
    before: str
    after: str
    text: str


def _to(replacement: str) -> Rewrite:
    return lambda match: match.expand(replacement)


def _scaled(match: re.Match[str]) -> str:
    literal = match[0]
    suffix = "f" if literal.endswith("f") else ""
    return f"{float(literal.rstrip('f')) * 1.01!r}{suffix}"


_A, _B = r"(?<=[\w\])]) ", r" (?=[\w(&])"
RULES: tuple[Rule, ...] = (
    Rule("plus becomes minus", _A + r"\+" + _B, _to(" - "), "body"),
    Rule("minus becomes plus", _A + "-" + _B, _to(" + "), "body"),
    Rule("times becomes plus", _A + r"\*" + _B, _to(" + "), "body"),
    Rule("division becomes product", _A + "/" + _B, _to(" * "), "body"),
    Rule("remainder becomes quotient", _A + "%" + _B, _to(" / "), "body"),
    Rule("accumulation becomes assignment", r" [+]= ", _to(" = "), "body"),
    Rule("accumulation changes sign", r" [+]= ", _to(" -= "), "body"),
    Rule("loop runs once more", r"(for \([^;]*;[^;]*?) < ", _to(r"\1 <= "), "for"),
    Rule("loop runs once less", r"(for \([^;]*;[^;]*? < [^;]+);", _to(r"\1 - 1;"), "for"),
    Rule("loop starts at one", r"(for \([^;=]*= )0;", _to(r"\g<1>1;"), "for"),
    Rule("loop steps twice as far", r"(for \([^;]*;[^;]*;[^;+]*\+= )(.+?)\)( \{|$|\s)", _to(r"\g<1>2 * (\2))\3"), "for"),
    Rule("loop skips every second", r"(for \([^;]*;[^;]*; )(?:\+\+(\w+)|(\w+)\+\+)\)", lambda m: f"{m[1]}{m[2] or m[3]} += 2)", "for"),
    Rule("reduction starts too low", r"(for \([^;=]*= [\w.]+ / )2;", _to(r"\g<1>4;"), "for"),
    Rule("reduction skips a step", r">>= 1", _to(">>= 2"), "for"),
    Rule("reduction skips a step", r"/= 2", _to("/= 4"), "for"),
    Rule("guard admits one more", r"(if \(.*?) < ", _to(r"\1 <= "), "body"),
    Rule("guard admits one more", r"(if \(.*?) >= ", _to(r"\1 > "), "body"),
    Rule("guard admits one less", r"(if \(.*?) >= (\w+)", _to(r"\1 >= \2 - 1"), "body"),
    Rule("guard dropped", r"if \([^;{}]*\) return;", _to(";"), "body"),
    Rule("maximum becomes minimum", r"\bfmaxf\(", _to("fminf("), "body"),
    Rule("maximum becomes minimum", r"(?<![\w_])max\(", _to("min("), "body"),
    Rule("comparison turned", r"(?<=[\w\])]) > (?=[a-z])", _to(" < "), "body"),
    Rule("wrong identity", r"-INFINITY|-FLT_MAX|-1e30f", _to("0.0f"), "body"),
    Rule("wrong identity", r"((?:float|__m512) \w+ = |_ps\()0(?:\.0?f?)?(?=[;)])", _to(r"\g<1>1.0f"), "body"),
    Rule("constant changed", r"(?<![\w.])\d+\.\d+(?:e-?\d+)?f?(?![\w.])|(?<![\w.])1e-5f?", _scaled, "body"),
    Rule("barrier dropped", r"__syncthreads\(\);", _to(";"), "body"),
    Rule("tail dropped", r"\((\w+) \+ [\w.]+ - 1\) / ", _to(r"\1 / "), "any"),
    Rule("tail dropped", r"\(([\w* ]+) \+ (?:255|63|31|127)\) / ", _to(r"(\1) / "), "any"),
    Rule("axes exchanged", r"\b(threadIdx|blockIdx)\.x", _to(r"\1.y"), "body"),
    Rule("axes exchanged", r"\b(threadIdx|blockIdx)\.y", _to(r"\1.x"), "body"),
    Rule("names exchanged", r"(?<=[\[(+*] )?\brow\b(?= [*+%])", _to("col"), "body"),
    Rule("names exchanged", r"(?<=[+] )\bcol\b(?=\])", _to("row"), "body"),
    Rule("names exchanged", r"\boh\b(?= \*)", _to("ow"), "body"),
    Rule("names exchanged", r"\bty\b(?=\])", _to("tx"), "body"),
    Rule("index off by one", r"(?<=\w)\[((?:[^\[\];]|\[[^\[\];]*\])+)\]", _to(r"[\1 + 1]"), "body"),
    Rule("other base", r"\bexpf\(", _to("exp2f("), "body"),
    Rule("other function", r"\btanhf\(", _to("sinf("), "body"),
    Rule("other function", r"\bsqrtf?\(", _to("fabsf("), "body"),
    Rule("other shuffle", r"__shfl_xor_sync", _to("__shfl_up_sync"), "body"),
    Rule("other shuffle", r"__shfl_down_sync", _to("__shfl_up_sync"), "body"),
    Rule("statement dropped", r"^(\s*)\w+(?:\[.*?\])* [-+*/]?= [^;]+;$", _to(r"\1;"), "body"),
    Rule("float4 lane exchanged", r"(?<=\w)\.y(?= [+),]|;)", _to(".x"), "body"),
    Rule("vector addition becomes subtraction", r"_mm512_add_ps", _to("_mm512_sub_ps"), "body"),
    Rule("vector product becomes sum", r"_mm512_mul_ps", _to("_mm512_add_ps"), "body"),
    Rule("vector quotient becomes product", r"_mm512_div_ps", _to("_mm512_mul_ps"), "body"),
    Rule("vector maximum becomes minimum", r"_mm512_max_ps", _to("_mm512_min_ps"), "body"),
    Rule("other vector reduction", r"_mm512_reduce_add_ps", _to("_mm512_reduce_max_ps"), "body"),
    Rule("mask admits one more", r"_MM_CMPINT_LT", _to("_MM_CMPINT_LE"), "body"),
    Rule("loop bound changed", r"(for \(int \w+ = 0; \w+ < )(\d+)", lambda m: f"{m[1]}{int(m[2]) - 1}", "for"),
    Rule("loop bound changed", r"(for \(int \w+ = 0; \w+ < )(\d+)", lambda m: f"{m[1]}{int(m[2]) + 1}", "for"),
    Rule("stride changed", r"(?<= \* )(\d{2,})(?= \+|\])", lambda m: str(int(m[1]) + 1), "body"),
    Rule("offset changed", r"(?<= \+ )(16|32|48)(?=\])", lambda m: str(int(m[1]) - 1), "body"),
)  # fmt: skip
_HOST = re.compile(r"__shared__|cudaM|cudaFree|CHECK|check\(|Errchk|size_t|Assert|fprintf|#|\bint bytes|constexpr|dim3 \w+;")
_HIDDEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.S)


def mutants(text: str, entry: str, dialect: str) -> Iterator[Mutant]:
    """All mutants of the code of ``text``, in order of the rules. ``dialect`` is ``cuda`` or ``vnni``."""
    visible = _HIDDEN.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    lines, shown = text.split("\n"), visible.split("\n")
    first = _first_line(shown, entry, dialect)
    seen = {text}
    for rule in RULES:
        for number in range(first, len(lines)):
            line = shown[number]
            is_for = line.lstrip().startswith(("for (", "for("))
            if _HOST.search(line) or (rule.where != "any" and (rule.where == "for") != is_for):
                continue
            for match in re.finditer(rule.pattern, line):
                after = lines[number][: match.start()] + rule.rewrite(match) + lines[number][match.end() :]
                mutated = "\n".join([*lines[:number], after, *lines[number + 1 :]])
                if mutated not in seen:
                    seen.add(mutated)
                    yield Mutant(rule.name, number + 1, lines[number].strip(), after.strip(), mutated)


def _first_line(lines: list[str], entry: str, dialect: str) -> int:
    """Where the code starts: the first device code, or the entry of a result (after its portable stand-ins)."""
    pattern = r"__global__|__device__|struct \w+ \{" if dialect == "cuda" else rf"\b{entry}\("
    return next((number for number, line in enumerate(lines) if re.search(pattern, line)), len(lines))


def sample(found: list[Mutant], count: int, seed: int) -> list[Mutant]:
    """At most ``count`` mutants, as many different rules as possible, chosen by ``seed``."""
    rng = random.Random(seed)
    by_rule: dict[str, list[Mutant]] = {}
    for mutant in rng.sample(found, len(found)):
        by_rule.setdefault(mutant.rule, []).append(mutant)
    queues = list(by_rule.values())
    rng.shuffle(queues)
    chosen: list[Mutant] = []
    while queues and len(chosen) < count:
        chosen += [queue.pop() for queue in queues][: count - len(chosen)]
        queues = [queue for queue in queues if queue]
    return chosen
