import os
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from search.store import Store, content_key
from synth.errors import UsageError


def test_events_come_back_in_order(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        store.append("r", "evaluation", "a", {"n": 1})
        store.append("r", "evaluation", "b", {"n": 2})
        store.append("other", "evaluation", "a", {"n": 3})
    with Store.open(tmp_path) as store:
        assert [(e.key, e.data["n"]) for e in store.events("r")] == [("a", 1), ("b", 2)]
        assert store.runs() == ("r", "other")


def test_latest_event_of_a_key_wins(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        store.append("r", "result", "k", {"n": 1})
        store.append("r", "result", "k", {"n": 2})
        event = store.latest("r", "result", "k")
        assert event is not None and event.data == {"n": 2}
        assert store.latest("r", "result", "absent") is None


def test_artefacts_are_content_addressed(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        key = store.put("int main() {}")
        assert store.put("int main() {}") == key
        assert store.get(key) == "int main() {}"
        with pytest.raises(KeyError):
            store.get("0" * 32)


def test_second_driver_is_refused_and_told_who_holds_it(tmp_path: Path) -> None:
    with Store.open(tmp_path), pytest.raises(UsageError, match=f"in use by process {os.getpid()}"):
        Store.open(tmp_path)
    Store.open(tmp_path).close()


def test_a_file_that_is_no_store_is_refused(tmp_path: Path) -> None:
    (tmp_path / "events.sqlite").write_bytes(b"this is not a database, but it is long enough to be looked at" * 20)
    with pytest.raises(UsageError, match="not a record store"):
        Store.open(tmp_path)


def test_another_schema_version_is_refused(tmp_path: Path) -> None:
    Store.open(tmp_path).close()
    with sqlite3.connect(tmp_path / "events.sqlite") as connection:
        connection.execute("UPDATE meta SET value = '999' WHERE name = 'schema'")
    with pytest.raises(UsageError, match="schema version 999"):
        Store.open(tmp_path)


def test_keys_do_not_depend_on_concatenation() -> None:
    assert content_key("ab", "c") != content_key("a", "bc")


WRITER = """
import sys
from pathlib import Path
from search.store import Store
store = Store.open(Path(sys.argv[1]))
for n in range(10**6):
    store.append("r", "evaluation", str(n), {"text": store.put(f"artefact {n}")})
"""


def test_a_killed_writer_leaves_a_prefix_whose_artefacts_all_exist(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)])
    while len(list(tmp_path.glob("artefacts/*/*"))) < 20 and process.poll() is None:
        time.sleep(0.01)
    process.kill()
    process.wait()
    with Store.open(tmp_path) as store:
        events = list(store.events("r"))
        assert [e.key for e in events] == [str(n) for n in range(len(events))]
        assert [store.get(e.data["text"]) for e in events] == [f"artefact {n}" for n in range(len(events))]
        assert len(events) >= 19
