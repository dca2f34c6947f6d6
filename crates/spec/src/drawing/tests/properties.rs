//! What holds of the drawings of any graph.

use proptest::prelude::*;

use super::*;
use crate::drawing::rails::{Rails, rails};

/// Any graph, circles, missing tasks and titles of any characters included.
fn any_graph() -> impl Strategy<Value = TaskGraph> {
    let task = (
        "\\PC{0,60}|[\\x00-\\x7f\u{80}-\u{9f}\u{202a}-\u{202e}]{0,20}",
        proptest::collection::vec(0usize..14, 0..5),
        0u64..9,
    );
    proptest::collection::vec(task, 0..12).prop_map(|tasks| TaskGraph {
        tasks: tasks
            .into_iter()
            .enumerate()
            .map(|(number, (title, dependencies, effort))| {
                let mut dependencies: Vec<TaskId> = dependencies.iter().map(|number| id(&number.to_string())).collect();
                dependencies.dedup();
                TaskNode {
                    id: id(&number.to_string()),
                    title,
                    dependencies,
                    effort: Effort::from_milli_days(effort * 500),
                }
            })
            .collect(),
        parked: BTreeMap::new(),
    })
}

/// Reads the rails as a person does, from the characters alone: the tasks that each row waits for.
fn read_back(rails: &Rails) -> Vec<(usize, usize)> {
    let grid: Vec<Vec<char>> = rails
        .rows
        .iter()
        .map(|row| {
            let symbol = |cell: &rails::Cell| if cell.node { '○' } else { symbols::symbol(*cell) };
            row.cells.iter().map(symbol).collect()
        })
        .collect();
    let at = |row: usize, column: usize| grid[row].get(column).copied().unwrap_or(' ');
    // Follows a rail up to the task that it comes from.
    let follow = |row: usize, column: usize| {
        let mut row = row;
        loop {
            row -= 1;
            match at(row, column) {
                '○' | '╮' | '╭' | '┬' => return rails.rows[row].node,
                '│' | '┃' | '├' | '┤' | '┼' => {}
                other => panic!("a rail comes from {other:?}"),
            }
        }
    };
    let mut found = Vec::new();
    for (row, line) in rails.rows.iter().enumerate() {
        let stands = grid[row].iter().position(|symbol| *symbol == '○').expect("a task");
        if row > 0 && "○│┃├┤┼╮╭┬".contains(at(row - 1, stands)) {
            found.push((follow(row, stands), line.node));
        }
        for step in [1_isize, -1] {
            let mut column = stands;
            while let Some(next) = column.checked_add_signed(step) {
                column = next;
                let symbol = at(row, column);
                if "┴┼╰╯├┤".contains(symbol) {
                    found.push((follow(row, column), line.node));
                }
                let is_crossing = symbol == '│'
                    && column
                        .checked_add_signed(-step)
                        .is_some_and(|last| at(row, last) == '─');
                if !("─┬┴┼".contains(symbol) || is_crossing) {
                    break;
                }
            }
        }
    }
    found.sort_unstable();
    found
}

proptest! {
    /// Nobody can misread the rails: from the characters alone the direct dependencies come back, all and no others.
    #[test]
    fn rails_read_back(graph in any_graph()) {
        let scene = Scene::new("x", &graph, &BTreeMap::new());
        let rails = rails(&scene, 40);
        prop_assert_eq!(rails.undrawn, 0);
        let mut direct: Vec<(usize, usize)> = scene
            .edges
            .iter()
            .filter(|edge| edge.kind == EdgeKind::Direct)
            .map(|edge| (edge.from, edge.to))
            .collect();
        direct.sort_unstable();
        prop_assert_eq!(read_back(&rails), direct);
    }

    /// With too little room some are missing, and counted, and none is wrong.
    #[test]
    fn narrow_rails_leave_out_and_count(graph in any_graph(), lanes in 1usize..5) {
        let scene = Scene::new("x", &graph, &BTreeMap::new());
        let rails = rails(&scene, lanes);
        let found = read_back(&rails);
        let direct = scene.edges.iter().filter(|edge| edge.kind == EdgeKind::Direct).count();
        prop_assert_eq!(found.len() + rails.undrawn, direct);
        for (from, to) in found {
            prop_assert!(scene.edges.iter().any(|edge| edge.from == from && edge.to == to));
        }
    }

    #[test]
    fn a_terminal_gets_lines_that_fit(graph in any_graph(), width in 40usize..160, ascii in any::<bool>()) {
        let scene = Scene::new("x", &graph, &BTreeMap::new());
        let drawing = text(&scene, TextStyle { width, ascii, color: false });
        for line in drawing.lines() {
            prop_assert!(width::columns(line) <= width, "{}", line);
        }
        prop_assert!(drawing.lines().count() >= graph.tasks.len());
        let flat = drawing.replace('\n', " ");
        prop_assert_eq!(width::visible(&flat), flat.trim());
    }

    #[test]
    fn an_svg_is_xml_that_says_every_title(graph in any_graph()) {
        let scene = Scene::new("x", &graph, &BTreeMap::new());
        let drawing = svg(&scene);
        let document = roxmltree::Document::parse(&drawing).expect("XML");
        let titles: Vec<&str> = document
            .descendants()
            .filter(|node| node.has_tag_name("g"))
            .filter_map(|group| group.first_element_child()?.text())
            .collect();
        let expected: Vec<String> = scene.nodes.iter().map(|node| format!("{} — {}", node.id, node.title)).collect();
        prop_assert_eq!(titles, expected);
        let outside = ["http", "src=", "href", "@import", "<script", "<foreignObject"];
        let body = drawing.replace("http://www.w3.org/2000/svg", "").to_lowercase();
        let tags: String = body.split('>').filter_map(|part| part.rsplit_once('<')).map(|(_, tag)| tag).collect();
        prop_assert!(outside.iter().all(|word| !tags.contains(word)));
    }

    /// What a title holds never leaves its quotes.
    #[test]
    fn titles_stay_in_their_quotes(graph in any_graph()) {
        let scene = Scene::new("x", &graph, &BTreeMap::new());
        let drawing = mermaid(&scene);
        for line in drawing.lines().filter(|line| line.contains('[')) {
            let (name, rest) = line.split_once("[\"").expect("a label");
            let (label, _) = rest.split_once("\"]").expect("its end");
            prop_assert!(name.trim().starts_with('t'));
            let label = label.replacen("<br/>", "", 1);
            prop_assert!(!label.contains(['"', '<', '>', '`', '%', '{', '[', '\\']), "{}", label);
        }
        // Outside of its strings a DOT text has only what we write there.
        let drawing = dot(&scene);
        let mut inside = false;
        let mut escaped = false;
        let mut outside = String::new();
        for character in drawing.chars() {
            match (inside, escaped, character) {
                (true, true, _) => escaped = false,
                (true, false, '\\') => escaped = true,
                (_, _, '"') => inside = !inside,
                (true, false, _) => {}
                (false, _, other) => outside.push(other),
            }
        }
        prop_assert!(!inside);
        prop_assert!(outside.chars().all(|character| character.is_ascii_alphanumeric() || " \n[]{}=,.->".contains(character)), "{}", outside);
    }
}

/// Ten thousand tasks, each waiting for three of those before it.
fn ten_thousand() -> TaskGraph {
    let mut random = 1_u32;
    let mut next = |below: u32| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 8) % below
    };
    let tasks = (0..10_000_u32).map(|number| TaskNode {
        id: id(&number.to_string()),
        title: format!("part {number}"),
        dependencies: (0..3.min(number)).map(|_| id(&next(number).to_string())).collect(),
        effort: Effort::ONE_DAY,
    });
    TaskGraph {
        tasks: tasks.collect(),
        parked: BTreeMap::new(),
    }
}

#[test]
fn ten_thousand_tasks_are_drawn() {
    let chain = TaskGraph {
        tasks: (0..10_000_u32)
            .map(|number| TaskNode {
                id: id(&number.to_string()),
                title: "link".to_owned(),
                dependencies: number
                    .checked_sub(1)
                    .map(|last| id(&last.to_string()))
                    .into_iter()
                    .collect(),
                effort: Effort::ONE_DAY,
            })
            .collect(),
        parked: BTreeMap::new(),
    };
    for graph in [ten_thousand(), chain] {
        let scene = Scene::new("x", &graph, &BTreeMap::new());
        let drawing = text(&scene, plain(120));
        assert!(drawing.lines().count() > 10_000 && drawing.lines().all(|line| width::columns(line) <= 120));
        assert_eq!(svg(&scene).matches("<rect class=\"box").count(), 10_000);
        assert!(dot(&scene).lines().count() > 20_000 && mermaid(&scene).lines().count() > 20_000);
        assert_eq!(columns(&scene).places.len(), 10_000);
    }
}
