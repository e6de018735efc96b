use super::*;
use crate::Applicability;

/// Shows a diff: `-`/`+` lines with changed words in brackets, pairs on one line joined by `~`.
fn draw(old: &str, new: &str) -> String {
    let diff = diff_texts(old, new, &[]);
    let (a, b): (Vec<&str>, Vec<&str>) = (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
    let mark = |line: &str, spans: &[(u32, u32)]| {
        let mut out = String::new();
        let mut at = 0;
        for (start, end) in spans {
            out += &line[at..*start as usize];
            out += &format!("[{}]", &line[*start as usize..*end as usize]);
            at = *end as usize;
        }
        (out + &line[at..]).trim_end_matches('\n').replace('\r', "␍")
    };
    let mut out = String::new();
    for hunk in &diff.hunks {
        out += &format!("@{}\n", hunk.old_start);
        for row in hunk.rows() {
            match (row.old, row.new, row.pair) {
                (Some(o), Some(n), Some(pair)) => {
                    out += &format!("~{}\n", mark(a[o as usize], &pair.old_words));
                    out += &format!("~{}\n", mark(b[n as usize], &pair.new_words));
                }
                (o, n, _) => {
                    out += &o.map_or(String::new(), |o| format!("-{}\n", mark(a[o as usize], &[])));
                    out += &n.map_or(String::new(), |n| format!("+{}\n", mark(b[n as usize], &[])));
                }
            }
        }
    }
    assert_eq!(replay(old, new, &diff), new, "the hunks must lead from one text to the other");
    out
}

/// Builds the new text from the old one, the hunks and the added lines.
fn replay(old: &str, new: &str, diff: &FileDiff) -> String {
    let (a, b): (Vec<&str>, Vec<&str>) = (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
    assert_eq!((diff.old_lines as usize, diff.new_lines as usize), (a.len(), b.len()));
    let mut out = String::new();
    let mut at = 0;
    for hunk in &diff.hunks {
        out += &a[at..hunk.old_start as usize].concat();
        out += &b[hunk.new_start as usize..hunk.new_end as usize].concat();
        at = hunk.old_end as usize;
    }
    out + &a[at..].concat()
}

#[track_caller]
fn check(old: &str, new: &str, expected: &str) {
    assert_eq!(draw(old, new), expected);
}

#[test]
fn equal_texts_have_no_hunk() {
    check("a\nb\n", "a\nb\n", "");
    check("", "", "");
}

#[test]
fn a_changed_word_is_marked() {
    check(
        "import torch\nnet = Net(args).cuda()\nnet.train()\n",
        "import torch\nnet = Net(args).to(\"hpu\")\nnet.train()\n",
        "@1\n~net = Net(args).[cuda]()\n~net = Net(args).[to]([\"hpu\"])\n",
    );
}

#[test]
fn a_line_lifted_into_a_branch_keeps_its_partner() {
    check(
        "def f():\n    loss.backward()\n    return 1\n",
        "def f():\n    if hpu:\n        loss.backward()\n        mark_step()\n    else:\n        loss.backward()\n    return 1\n",
        "@1\n+    if hpu:\n~    loss.backward()\n~    [    ]loss.backward()\n+        mark_step()\n+    else:\n+        loss.backward()\n",
    );
}

#[test]
fn an_inserted_method_is_not_cut_in_the_middle() {
    check(
        "def a():\n    return 1\n\ndef c():\n    return 1\n",
        "def a():\n    return 1\n\ndef b():\n    return 1\n\ndef c():\n    return 1\n",
        "@3\n+def b():\n+    return 1\n+\n",
    );
}

#[test]
fn repeated_lines_follow_their_neighbours() {
    check(
        "if a:\n    x()\nelse:\n    y()\n",
        "if a:\n    x()\nelif b:\n    z()\nelse:\n    y()\n",
        "@2\n+elif b:\n+    z()\n",
    );
}

#[test]
fn a_moved_block_is_removed_here_and_added_there() {
    check(
        "one()\ntwo()\nthree()\nfour()\nfive()\nsix()\n",
        "four()\nfive()\nsix()\none()\ntwo()\nthree()\n",
        "@0\n+four()\n+five()\n+six()\n@3\n-four()\n-five()\n-six()\n",
    );
}

#[test]
fn line_ends_count() {
    check("a\r\nb\r\n", "a\r\nb\n", "@1\n~b[␍]\n~b\n");
    check("a\nb", "a\nb\n", "@1\n~b\n~b\n");
    check("a\r\n", "a\r\nb\r\n", "@1\n+b␍\n");
}

#[test]
fn a_mark_at_the_start_of_the_file_counts() {
    check("\u{feff}import a\n", "\u{feff}import b\n", "@0\n~\u{feff}import [a]\n~\u{feff}import [b]\n");
    check("\u{feff}a\n", "a\n", "@0\n~[\u{feff}]a\n~a\n");
}

#[test]
fn nothing_becomes_something_and_back() {
    check("", "a\n", "@0\n+a\n");
    check("a\nb", "", "@0\n-a\n-b\n");
}

#[test]
fn words_outside_ascii_are_cut_at_characters() {
    check("# größe → 1 🚢\n", "# größer → 1 🚀\n", "@0\n~# [größe] → 1 [🚢]\n~# [größer] → 1 [🚀]\n");
}

#[test]
fn a_long_run_pairs_lines_that_moved_sideways() {
    let old: String = (0..300).map(|i| format!("    call_{i}(a)\n")).collect();
    let new: String = (0..300).map(|i| format!("        call_{i}(a)\n")).collect();
    let diff = diff_texts(&old, &new, &[]);
    assert_eq!(diff.hunks.len(), 1);
    assert_eq!(diff.hunks[0].pairs.len(), 300);
    assert!(diff.hunks[0].pairs.iter().all(|pair| pair.old == pair.new && pair.new_words == [(4, 8)]));
}

#[track_caller]
fn check_edits(old: &str, edits: &[(usize, usize, &str)], expected: &[&[usize]]) {
    let edits: Vec<Edit> = edits
        .iter()
        .enumerate()
        .map(|(index, (start, end, text))| Edit {
            id: index.to_string(),
            recipe: "t#r".into(),
            applicability: Applicability::Safe,
            start: *start,
            end: *end,
            text: (*text).into(),
            comments_removed: Vec::new(),
        })
        .collect();
    let mut new = old.to_string();
    for edit in edits.iter().rev() {
        new.replace_range(edit.start..edit.end, &edit.text);
    }
    let hunks: Vec<Vec<usize>> = diff_texts(old, &new, &edits)
        .hunks
        .iter()
        .map(|hunk| hunk.edits.iter().map(|id| id.parse().unwrap()).collect())
        .collect();
    assert_eq!(hunks, expected);
}

#[test]
fn hunks_name_their_edits() {
    let old = "import a\nx = 1\ny = 2\nz = 3\n";
    check_edits(old, &[(8, 8, "\nimport b"), (13, 14, "4"), (25, 26, "5")], &[&[0, 1], &[2]]);
    check_edits(old, &[(9, 9, "import b\n"), (21, 27, "")], &[&[0], &[1]]);
    check_edits(old, &[(14, 14, "\nw = 0")], &[&[0]]);
}

#[test]
fn an_edit_whose_hunk_slid_away_is_not_lost() {
    check_edits("a\nb\na\nb\na\nb\nz\n", &[(0, 0, "a\nb\n")], &[&[0]]);
}

#[test]
fn a_diff_survives_the_way_to_the_page() {
    let diff = diff_texts("a b\nc\n", "a d\nc\ne\n", &[]);
    let json = serde_json::to_string(&diff).unwrap();
    assert_eq!(serde_json::from_str::<FileDiff>(&json).unwrap(), diff);
}

#[test]
fn random_texts_replay() {
    let mut seed = 7u64;
    let mut random = |n: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % n) as usize
    };
    let words = ["if a:\n", "    b()\n", "else:\n", "\n", "    c = b() + 1\r\n", "    c = d() + 2\n", "é\n", "z"];
    for _ in 0..2_000 {
        let mut text = |n: u64| (0..random(n)).map(|_| words[random(words.len() as u64)]).collect::<String>();
        let (old, new) = (text(30), text(30));
        draw(&old, &new);
        let diff = diff_texts(&old, &new, &[]);
        let apart = |a: &Hunk, b: &Hunk| b.old_start > a.old_end && b.new_start > a.new_end;
        assert!(diff.hunks.windows(2).all(|pair| apart(&pair[0], &pair[1])), "{old:?} {new:?}");
    }
}
