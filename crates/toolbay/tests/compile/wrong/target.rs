use toolbay::prelude::*;

fn main() {
    drop(Client::connect(8080));
}
