//! What the compiler says to authors who go wrong.

#[test]
fn mistakes_are_explained() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/compile/good.rs");
    cases.compile_fail("tests/compile/wrong/*.rs");
}
