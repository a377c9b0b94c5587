"""One rewriting by the model at the root of the search: asked for, passed through the IR gate, offered as one more action."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from llm_server.errors import LlmError
from llm_server.rewriter import LlmRewriter
from search.action import Action
from search.proposer import Proposal, Proposer
from search.rewrite import ModelRewrite
from search.store import content_key
from synth import codegen, gate
from synth.errors import Diagnostic, XpilerError
from synth.ir.grammar import Module
from synth.passes.registry import get
from synth.spec import DeviceSpec

PRIOR = 0.25  # of the rewriting among the root's proposals


@dataclass(slots=True)
class RewritingProposer:
    """Adds the model's own program to what ``inner`` proposes for ``root``. A refused answer becomes a note, and nothing else comes of it.

    ``keep`` stores the text of an answer and is called before the gate reads it, so that the records hold what was refused, too.
    """

    inner: Proposer
    rewriter: LlmRewriter
    root: Module
    keep: Callable[[str], object]
    notes: list[Diagnostic] = field(default_factory=list)
    _asked: bool = False

    @property
    def name(self) -> str:
        return self.inner.name

    def propose(self, module: Module, spec: DeviceSpec, limit: int) -> tuple[Proposal, ...]:
        proposals = self.inner.propose(module, spec, limit)
        if self._asked or module is not self.root or not proposals:
            return proposals
        self._asked = True
        own = self._rewriting(proposals[0].action.pass_type.name, spec)
        if own is None:
            return proposals
        return (*(Proposal(p.action, p.prior * (1 - PRIOR)) for p in proposals), Proposal(own, PRIOR))

    def _rewriting(self, under: str, spec: DeviceSpec) -> Action | None:
        """The admitted rewriting under a pass, or None with a note why there is none."""
        try:
            answer = self.rewriter.rewrite(codegen.emit(self.root, spec), under, (get(under).__doc__ or "").strip())
            self.keep(answer)
            module = gate.admit(answer, self.root)
        except LlmError as error:
            self.notes.append(Diagnostic("warning", f"the model gave no rewriting: {error}"))
            return None
        except XpilerError as error:
            self.notes.append(Diagnostic("note", f"the model's rewriting under {under} was refused by the IR gate: {error}"))
            return None
        fixed = (("under", under), ("digest", content_key(answer)), ("module", module))
        return Action(ModelRewrite, fixed)  # type: ignore[arg-type]
