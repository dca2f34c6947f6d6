//! Making a clone shallow: the commits behind a depth are gone, as after `git clone --depth`.

use std::collections::BTreeSet;

use git2::Oid;

use super::depot::Depot;

impl Depot {
    /// Forgets every commit that is more than `depth` commits away from each of the branches that are here, branches
    /// that are not named among them.
    ///
    /// # Panics
    /// When the machine refuses.
    pub fn make_shallow(&self, kept: &[&str], depth: usize) {
        let (mut inside, mut boundary) = (BTreeSet::new(), BTreeSet::new());
        for reference in kept {
            self.collect(self.tip(reference), depth, &mut inside, &mut boundary);
        }
        let names: Vec<String> = self
            .git
            .references()
            .expect("the branches")
            .filter_map(|found| found.ok()?.name().ok().map(str::to_owned))
            .collect();
        for name in names
            .iter()
            .filter(|name| !kept.contains(&name.as_str()) && !name.ends_with("/HEAD"))
        {
            self.delete(name);
        }
        let lines: String = boundary.iter().map(|id| format!("{id}\n")).collect();
        std::fs::write(self.git.path().join("shallow"), lines).expect("the file is written");
        self.forget_other_commits(&inside);
    }

    fn collect(&self, from: Oid, depth: usize, inside: &mut BTreeSet<Oid>, boundary: &mut BTreeSet<Oid>) {
        let mut level = vec![from];
        for distance in 1..=depth {
            let mut next = Vec::new();
            for id in level {
                inside.insert(id);
                let parents: Vec<Oid> = self.found(id).parent_ids().collect();
                if distance == depth && !parents.is_empty() {
                    boundary.insert(id);
                } else {
                    next.extend(parents);
                }
            }
            level = next;
        }
    }

    /// Removes the loose objects of commits that are not inside.
    fn forget_other_commits(&self, inside: &BTreeSet<Oid>) {
        let odb = self.git.odb().expect("the objects");
        let mut others = Vec::new();
        odb.foreach(|id| {
            let is_commit = odb
                .read_header(*id)
                .is_ok_and(|(_, kind)| kind == git2::ObjectType::Commit);
            if is_commit && !inside.contains(id) {
                others.push(*id);
            }
            true
        })
        .expect("the objects are listed");
        for id in others {
            let text = id.to_string();
            let (directory, file) = text.split_at(2);
            let path = self.git.path().join("objects").join(directory).join(file);
            std::fs::remove_file(path).expect("it is a loose object");
        }
    }
}
