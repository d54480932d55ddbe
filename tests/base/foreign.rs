//! Types as other languages write them.

use graphc::base::foreign::ty::read;

fn here(text: &str) -> String {
    read(text).map_or("-".to_owned(), |written| {
        let rest = text.get(written.length..).unwrap_or("");
        format!("{}{rest}", written.here)
    })
}

#[test]
fn types_of_other_languages_are_read() {
    assert_eq!(here("list[str]"), "list<string>");
    assert_eq!(here("string[], x: int"), "list<string>, x: int");
    assert_eq!(here("Dict[str, Any] = {}"), "map<json> = {}");
    assert_eq!(here("Optional[int]"), "int?");
    assert_eq!(here("Union[str, int, None]"), "string | int | null");
    assert_eq!(here("Literal[\"a\", 'b']"), "\"a\" | \"b\"");
    assert_eq!(here("List[Optional[Room]]"), "list<Room?>");
    assert_eq!(here("Array<{ a: string }>"), "-");
    assert_eq!(
        here("Annotated[list[BaseMessage], add_messages]"),
        "list<message> via add_messages"
    );
    assert_eq!(
        here("Annotated[list[str], operator.add]"),
        "list<string> via append"
    );
    assert_eq!(here("string?[]"), "list<string?>");
    assert_eq!(here("Foo[int]"), "-");
}
