//! Canonical text of a document, for digests.

use std::fmt::Write;

use crate::document::Document;
use crate::key;
use crate::value::{Node, Value};

impl Document {
    /// All values except those of the keys `skip` (dotted, no list items), in a form that does not depend on the order
    /// of keys, comments, or how numbers and strings are written.
    pub fn canonical(&self, skip: &[&str]) -> String {
        let mut text = String::new();
        write_node(&self.root, "", skip, &mut text);
        text
    }
}

fn write_node(node: &Node, place: &str, skip: &[&str], text: &mut String) {
    // Writing to a string cannot fail.
    let _ = match &node.value {
        Value::Text(value) => write!(text, "{value:?}"),
        Value::Integer(value) => write!(text, "{value}"),
        Value::Float(value) => write!(text, "{value:?}"),
        Value::Boolean(value) => write!(text, "{value}"),
        Value::Datetime(value) => write!(text, "{value}"),
        Value::List(items) => {
            text.push('[');
            for item in items {
                write_node(item, place, skip, text);
                text.push(',');
            }
            text.push(']');
            Ok(())
        }
        Value::Table(entries) => {
            let mut sorted: Vec<_> = entries.iter().collect();
            sorted.sort_by_key(|(name, _)| name);
            text.push('{');
            for (name, node) in sorted {
                let key = key::dotted(place, name);
                if !skip.contains(&key.as_str()) {
                    let _ = write!(text, "{name:?}=");
                    write_node(node, &key, skip, text);
                    text.push(',');
                }
            }
            text.push('}');
            Ok(())
        }
    };
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::{Document, Overrides};

    fn canonical(text: &str, skip: &[&str]) -> String {
        Document::parse(Path::new("x.toml"), text, &[]).unwrap().canonical(skip)
    }

    #[test]
    fn spelling_and_order_do_not_matter_and_values_do() {
        let one = canonical("a = 0x10 # sixteen\nb = \"x\"\n[c]\nd = [1, 2.0]\n", &[]);
        assert_eq!(one, canonical("b = 'x'\na = 1_6\nc = { d = [ 1, 2.00 ] }\n", &[]));
        assert_eq!(one, r#"{"a"=16,"b"="x","c"={"d"=[1,2.0,],},}"#);
        assert_ne!(one, canonical("a = 16\nb = \"x\"\n[c]\nd = [2.0, 1]\n", &[]));
    }

    #[test]
    fn what_is_to_be_skipped_leaves_no_trace() {
        let with = canonical("a = 1\n[c]\nd = 2\ne = 3\n", &["c.d", "a"]);
        assert_eq!(with, canonical("[c]\ne = 3\n", &[]));
    }

    #[test]
    fn an_override_reads_as_if_it_stood_in_the_file() {
        let mut document = Document::parse(Path::new("x.toml"), "a = 1\n", &[]).unwrap();
        document.apply(&Overrides::parse(&["a=2".to_owned(), "b.c=3".to_owned()]).unwrap()).unwrap();
        assert_eq!(document.canonical(&[]), canonical("a = 2\nb = { c = 3 }\n", &[]));
    }
}
