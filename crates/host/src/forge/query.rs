//! The question: one GraphQL query with an alias for each head. All names travel as variables.

use orchestrate_core::identifier::{SpecId, Unit, UnitName};
use serde_json::{Map, Value, json};

use super::place::ForgePlace;

/// How many heads one query asks for.
pub(super) const MOST_HEADS: usize = 100;
/// How many pull requests of one head are read: a head with more is not read to its end.
pub(super) const MOST_OF_A_HEAD: usize = 10;

/// What is read of a pull request.
const FIELDS: &str = "number state isDraft baseRefName headRefOid headRepositoryOwner{login} \
                      url createdAt updatedAt mergedAt mergeCommit{oid messageHeadline parents{totalCount}} \
                      commits(last:1){nodes{commit{messageHeadline statusCheckRollup{state}}}}";

/// Returns the name under which a unit's pull requests are answered.
pub(super) fn alias(index: usize) -> String {
    format!("unit{index}")
}

/// Returns the body of the request for the units' branches.
pub(super) fn render(place: &ForgePlace, spec: &SpecId, units: &[&Unit]) -> String {
    let mut declared = "$owner:String!,$name:String!".to_owned();
    let mut asked = String::new();
    let mut variables = Map::new();
    variables.insert("owner".to_owned(), json!(place.owner));
    variables.insert("name".to_owned(), json!(place.name));
    for (index, unit) in units.iter().enumerate() {
        let name = UnitName {
            spec: spec.clone(),
            unit: (*unit).clone(),
        };
        let alias = alias(index);
        declared.push_str(&format!(",$head{index}:String!"));
        asked.push_str(&format!(
            " {alias}:pullRequests(headRefName:$head{index},first:{MOST_OF_A_HEAD},\
             orderBy:{{field:CREATED_AT,direction:DESC}}){{nodes{{...pull}} pageInfo{{hasNextPage}}}}"
        ));
        variables.insert(format!("head{index}"), Value::String(name.branch()));
    }
    let query = format!(
        "query UnitPullRequests({declared}){{repository(owner:$owner,name:$name){{nameWithOwner{asked}}}}} \
         fragment pull on PullRequest{{{FIELDS}}}"
    );
    json!({ "query": query, "variables": variables }).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_a_variable() {
        let place = ForgePlace {
            host: "github.com".to_owned(),
            owner: "o\"}".to_owned(),
            name: "r".to_owned(),
            head_owner: "o".to_owned(),
        };
        let spec = SpecId::parse("alpha").expect("spec");
        let (one, two) = (Unit::parse("1").expect("unit"), Unit::parse("2-3").expect("unit"));
        let body: Value = serde_json::from_str(&render(&place, &spec, &[&one, &two])).expect("json");
        assert_eq!(body["variables"]["owner"], "o\"}");
        assert_eq!(body["variables"]["head0"], "planwright/alpha/task-1");
        assert_eq!(body["variables"]["head1"], "planwright/alpha/task-2-3");
        let query = body["query"].as_str().expect("query");
        assert!(
            query.contains("unit1:pullRequests(headRefName:$head1,first:10"),
            "{query}"
        );
        assert!(!query.contains("alpha") && !query.contains("o\""), "{query}");
    }
}
