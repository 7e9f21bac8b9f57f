//! Plain functions as handlers, whichever of arguments, state and context they take, in this order.

use std::{future::Future, ops::Deref, sync::Arc};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{
    arguments::{Given, Misfit},
    context::Ctx,
};
use crate::schema;

/// The server's state, as a handler takes it.
#[derive(Debug)]
pub struct State<S>(pub(crate) Arc<S>);

impl<S> Clone for State<S> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<S> Deref for State<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.0
    }
}

/// A function that serves a tool, a prompt or a resource.
///
/// It takes, in this order and each only if it wants it: a struct of arguments (with [`data`](macro@crate::data) on it, or
/// `Deserialize` and `JsonSchema` derived), the server's [`State`], and the [`Ctx`] of the call; and it returns a future.
/// `Shape` tells which, and is always inferred.
#[diagnostic::on_unimplemented(
    message = "this function cannot serve a tool, a prompt or a resource",
    label = "not a handler for a server with this state",
    note = "a handler is an async function of at most three arguments, in this order: a struct with named fields and \
            `#[data]` on it, `State<S>` with the type given to `Server::state`, and `Ctx`"
)]
pub trait Handler<S, Shape>: Send + Sync + 'static {
    /// What its future comes to.
    type Output;

    /// The schema of its arguments; `whose` names it in a panic.
    #[doc(hidden)]
    fn schema(whose: &str) -> Map<String, Value>;

    /// Calls it, where the arguments fit.
    #[doc(hidden)]
    #[expect(private_interfaces, reason = "called by this crate alone")]
    fn run(
        &self,
        given: Given<'_>,
        state: &Arc<S>,
        cx: &Ctx,
    ) -> Result<impl Future<Output = Self::Output> + Send + 'static, Misfit>;
}

/// Stands for a struct of arguments in a shape.
#[doc(hidden)]
#[derive(Debug)]
pub struct Args<A>(std::marker::PhantomData<fn(A)>);

macro_rules! handlers {
    ($($shape:ty, ($($argument:ident)?), ($($kind:ty),*), |$given:ident, $state:ident, $cx:ident| ($($pass:expr),*);)*) => {$(
        impl<S, F, Future $(, $argument)?> Handler<S, $shape> for F
        where
            S: Send + Sync + 'static,
            F: Fn($($kind),*) -> Future + Send + Sync + 'static,
            Future: std::future::Future + Send + 'static,
            $($argument: DeserializeOwned + JsonSchema + Send + 'static,)?
        {
            type Output = Future::Output;

            fn schema(whose: &str) -> Map<String, Value> {
                handlers!(@schema whose $($argument)?)
            }

            #[expect(private_interfaces, reason = "called by this crate alone")]
            fn run(&self, $given: Given<'_>, $state: &Arc<S>, $cx: &Ctx) -> Result<impl std::future::Future<Output = Future::Output> + Send + 'static, Misfit> {
                let _ = (&$given, $state, $cx);
                Ok(self($($pass),*))
            }
        }
    )*};
    (@schema $whose:ident) => {{ let _ = $whose; schema::of_nothing() }};
    (@schema $whose:ident $argument:ident) => { schema::of_input::<$argument>($whose) };
}

handlers! {
    (), (), (), |given, state, cx| ();
    (Ctx,), (), (Ctx), |given, state, cx| (cx.clone());
    (State<S>,), (), (State<S>), |given, state, cx| (State(Arc::clone(state)));
    (State<S>, Ctx), (), (State<S>, Ctx), |given, state, cx| (State(Arc::clone(state)), cx.clone());
    (Args<A>,), (A), (A), |given, state, cx| (given.read()?);
    (Args<A>, Ctx), (A), (A, Ctx), |given, state, cx| (given.read()?, cx.clone());
    (Args<A>, State<S>), (A), (A, State<S>), |given, state, cx| (given.read()?, State(Arc::clone(state)));
    (Args<A>, State<S>, Ctx), (A), (A, State<S>, Ctx),
        |given, state, cx| (given.read()?, State(Arc::clone(state)), cx.clone());
}
