"""What is not read is refused by name, with its line; what is no C++ is a source error."""

import pytest

from synth.errors import SourceError, UnsupportedError


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("goto end;\nend: ;", "goto"),
        ('asm("nop");', "inline assembly"),
        ("auto g = [&](int x) { return x; };\no[0] = g(1);", "lambda"),
        ("o[0] = down(3);", "recursive function 'down'"),
        ("try { o[0] = 1; } catch (int) {}", "exceptions|try"),
        ("throw 1;", "exceptions|throw"),
        ("int *p = new int[3];", "operator new"),
        ("volatile int x = 1; o[0] = x;", "volatile variable 'x'"),
        ("static int n = 0; n++; o[0] = n;", "static variable 'n'"),
        ("o[0] = counter;", "global variable 'counter'"),
        ("int a[2], b[2]; int *p = c > 1 ? a : b; p[0] = 1;", "conditional pointer"),
        ("int a[2], b[2]; int *p = a; if (c > 1) p = b; p[0] = 1;", "conditional pointers"),
        ("U u; u.i = 1;", "union 'U'"),
        ("B b; o[0] = b.get();", "virtual functions"),
        ("o[0] = unknown(1);", "'unknown', which has no body"),
        ("o[0] = sum(2, 1, 2);", "variadic"),
        ("int (*g)(int) = down; o[0] = g(1);", "address of function 'down'"),
        ("F f; f.a = 1;", "bit-field 'a'"),
        ("long double x = 1; o[0] = x;", "long double"),
        ("__int128 x = 1; o[0] = (int)x;", "__int128"),
        ("switch (c) { case 0: for (;;) { case 1: o[0] = 1; } }", "case label inside"),
        ("int v[3] = {}; for (int x : v) o[0] += x;", "range-based for"),
        ("o[0] = (int)(long)o;", "pointer converted to a number"),
        ('const char *s = "x"; o[0] = s[0];', "string"),
        ("D d; o[0] = d.a;", "base class"),
    ],
)
def test_refused_by_name_and_line(read, body, words):
    prelude = (
        "int down(int n) { return n > 0 ? down(n - 1) : 0; } int counter; union U { int i; float f; };"
        "struct B { virtual int get() { return 1; } }; struct A { int a; }; struct D : A { int b; };"
        "struct F { int a : 3; }; int unknown(int); int sum(int n, ...) { return n; }"
    )
    with pytest.raises(UnsupportedError, match=words) as caught:
        read(f"{prelude}\nvoid f(int *o, int c) {{\n{body}\n}}")
    location = caught.value.location
    assert location is not None
    assert location.file == "test.cpp"
    assert 1 <= location.line <= 5


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("void f(int *o) {\n o[0] = ;\n}", 2, "expected expression"),
        ("void f(int *o) {\n o[0] = x;\n}", 2, "undeclared identifier 'x'"),
        ("\n#include <nowhere.h>\nvoid f(int *o) {}", 2, "'nowhere.h'"),
        ('#include "/etc/passwd"\nvoid f(int *o) {}', 1, "outside"),
        ('#include "../secret.h"\nvoid f(int *o) {}', 1, "outside"),
        ("void f(int *o) {", 1, "expected '}'"),
        ("void f(float *o) { o[0] = o; }", 1, "assigning"),
    ],
)
def test_source_errors_have_a_line(read, text, line, words):
    with pytest.raises(SourceError, match=words) as caught:
        read(text)
    assert caught.value.location is not None
    assert caught.value.location.line == line
