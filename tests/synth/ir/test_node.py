import copy
import dataclasses
import pickle

from synth.ir.dtypes import DType
from synth.ir.grammar import Binary, Const, Sym, Var

X = Var(Sym("x"), DType.I32)
ONE, TWO = Const(1, DType.I32), Const(2, DType.I32)


def test_equal_nodes_have_equal_hashes_whether_remembered_or_not() -> None:
    a, b = Binary("add", X, ONE), Binary("add", X, ONE)
    first = hash(a)
    assert hash(a) == first == hash(b) and a == b and len({a, b}) == 1


def test_a_changed_copy_has_a_hash_of_its_own() -> None:
    a = Binary("add", X, ONE)
    hash(a)
    b = dataclasses.replace(a, b=TWO)
    assert hash(b) == hash(Binary("add", X, TWO)) and a != b


def test_a_remembered_hash_does_not_travel() -> None:
    a = Binary("add", X, ONE)
    hash(a)
    for other in (pickle.loads(pickle.dumps(a)), copy.copy(a)):
        assert not hasattr(other, "_hash") and other == a and hash(other) == hash(a)
    assert "_hash" not in repr(a) and "_hash" not in {f.name for f in dataclasses.fields(a)}
