#!/usr/bin/env python3
"""Consecutive commits have consecutive turns; in a shallow clone and in a tree without git the turn does not change."""

import os
import pathlib
import subprocess
import tempfile
import unittest

import turn


class turns(unittest.TestCase):
    def setUp(self):
        self.environment = dict(os.environ)
        os.environ.pop("KAIO_TURN", None)
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name) / "tree"
        (self.root / "tools/registry").mkdir(parents=True)
        self.write("CHANGELOG.md", "first")
        self.write("tools/registry/kernels.txt", "one")

    def tearDown(self):
        os.environ.clear()
        os.environ.update(self.environment)
        self.folder.cleanup()

    def write(self, name, text):
        (self.root / name).write_text(text)

    def git(self, *words, root=None):
        subprocess.run(["git", "-C", root or self.root, "-c", "user.name=a", "-c", "user.email=a@b", *words], check=True,
                       capture_output=True)

    def commit(self, text):
        self.write("CHANGELOG.md", text)
        self.git("add", ".")
        self.git("commit", "-q", "-m", text)

    def repository(self, commits):
        self.git("init", "-q", "-b", "main")
        for i in range(commits):
            self.commit(f"change {i}")

    def test_commits_in_a_row_have_turns_in_a_row(self):
        self.repository(1)
        seen = [turn.number(self.root)]
        for i in range(4):
            self.commit(f"more {i}")
            seen.append(turn.number(self.root))
        self.assertEqual(seen, list(range(seen[0], seen[0] + 5)))

    def test_a_merge_is_one_commit_of_its_branch(self):
        self.repository(2)
        self.git("checkout", "-q", "-b", "side")
        for i in range(3):
            self.commit(f"side {i}")
        self.git("checkout", "-q", "main")
        before = turn.number(self.root)
        self.git("merge", "-q", "--no-ff", "-m", "merged", "side")
        self.assertEqual(turn.number(self.root), before + 1)

    def test_what_is_not_committed_does_not_count(self):
        self.repository(2)
        before = turn.number(self.root)
        self.write("CHANGELOG.md", "edited")
        self.assertEqual(turn.number(self.root), before)

    def test_a_shallow_clone_has_the_turn_of_the_hash(self):
        self.repository(3)
        clone = pathlib.Path(self.folder.name) / "clone"
        subprocess.run(["git", "clone", "-q", "--depth", "1", f"file://{self.root}", clone], check=True,
                       capture_output=True)
        head = turn.git(clone, "rev-parse", "HEAD")
        self.assertEqual(turn.number(clone), int(head[:8], 16))

    def test_without_git_it_is_of_the_files(self):
        os.environ["GIT_CEILING_DIRECTORIES"] = self.folder.name
        first = turn.number(self.root)
        self.assertEqual(turn.number(self.root), first)
        self.write("tools/registry/kernels.txt", "two")
        self.assertNotEqual(turn.number(self.root), first)

    def test_the_environment_comes_first(self):
        os.environ["KAIO_TURN"] = "17"
        self.assertEqual(turn.number(self.root), 17)
        os.environ["KAIO_TURN"] = "seventeen"
        with self.assertRaises(SystemExit):
            turn.number(self.root)


if __name__ == "__main__":
    unittest.main()
