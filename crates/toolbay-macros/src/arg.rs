//! One argument of a function: part of the schema, the state, or the context.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Expr, FnArg, Ident, LitStr, Meta, Pat, Type, ext::IdentExt as _, spanned::Spanned as _};

use crate::options::Settings;

/// What an argument is.
pub(crate) enum Arg {
    /// A member of the schema.
    Field(Box<Field>),
    /// The server's state, of this type.
    State(Box<Type>),
    /// The context, taken whole or lent.
    Context(Taken),
}

/// How something is passed.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Taken {
    Whole,
    Lent,
}

/// A member of the schema.
pub(crate) struct Field {
    pub(crate) ident: Ident,
    pub(crate) kind: Type,
    /// Docs, and attributes for serde and schemars.
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) settings: Settings,
}

impl Arg {
    /// Reads an argument and takes from it what only this attribute understands.
    pub(crate) fn read(argument: &mut FnArg, known: &[&str]) -> syn::Result<Self> {
        let typed = match argument {
            FnArg::Receiver(receiver) => {
                let what = "take a free function: state comes as an argument of type `State<S>`";
                return Err(syn::Error::new_spanned(receiver, what));
            }
            FnArg::Typed(typed) => typed,
        };
        let mut attributes = std::mem::take(&mut typed.attrs);
        if let Some(taken) = context(&typed.ty) {
            return Ok(Self::Context(taken));
        }
        if let Some(state) = state(&typed.ty) {
            return Ok(Self::State(Box::new(state)));
        }
        if let Type::Reference(reference) = &*typed.ty {
            let what =
                "arguments are owned: take a `String` for a text, a `Vec` for a list (only the context may be lent)";
            return Err(syn::Error::new_spanned(reference, what));
        }
        let ident = match &*typed.pat {
            Pat::Ident(name) => name.ident.clone(),
            other => return Err(syn::Error::new_spanned(other, "an argument must have a plain name")),
        };
        let settings = settings(&mut attributes, known)?;
        // The function itself keeps what is not about the schema.
        let (ours, theirs) = attributes.into_iter().partition(is_about_schema);
        typed.attrs = theirs;
        Ok(Self::Field(Box::new(Field { ident, kind: (*typed.ty).clone(), attributes: ours, settings })))
    }
}

fn is_about_schema(attribute: &Attribute) -> bool {
    ["doc", "serde", "schemars"].iter().any(|name| attribute.path().is_ident(name))
}

/// Takes `#[arg(…)]` out.
fn settings(attributes: &mut Vec<Attribute>, known: &[&str]) -> syn::Result<Settings> {
    let mut found = TokenStream::new();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("arg")) {
        let Meta::List(list) = &attribute.meta else {
            return Err(syn::Error::new(attribute.span(), "write `#[arg(…)]`"));
        };
        if !found.is_empty() {
            return Err(syn::Error::new(attribute.span(), "put it all into one `#[arg(…)]`"));
        }
        found = list.tokens.clone();
    }
    attributes.retain(|attribute| !attribute.path().is_ident("arg"));
    Settings::read(found, known)
}

fn last(kind: &Type) -> Option<&syn::PathSegment> {
    match kind {
        Type::Path(path) if path.qself.is_none() => path.path.segments.last(),
        _ => None,
    }
}

fn context(kind: &Type) -> Option<Taken> {
    match kind {
        Type::Reference(lent) if lent.mutability.is_none() => {
            (context(&lent.elem)? == Taken::Whole).then_some(Taken::Lent)
        }
        _ => (last(kind)?.ident == "Ctx").then_some(Taken::Whole),
    }
}

fn state(kind: &Type) -> Option<Type> {
    let last = last(kind).filter(|last| last.ident == "State")?;
    let syn::PathArguments::AngleBracketed(inner) = &last.arguments else { return None };
    match inner.args.first() {
        Some(syn::GenericArgument::Type(kind)) if inner.args.len() == 1 => Some(kind.clone()),
        _ => None,
    }
}

impl Field {
    /// The name on the wire.
    pub(crate) fn name(&self) -> syn::Result<LitStr> {
        let own = || LitStr::new(&self.ident.unraw().to_string(), self.ident.span());
        Ok(self.settings.text("name")?.unwrap_or_else(own))
    }

    /// The member of the struct of arguments, and a function for its default where one is needed.
    pub(crate) fn member(&self) -> syn::Result<(TokenStream, Option<TokenStream>)> {
        let Self { ident, kind, attributes, settings } = self;
        let rename = settings.text("name")?.map(|name| quote!(#[serde(rename = #name)]));
        let (default, function) = match settings.get("default") {
            None => (None, None),
            Some(setting) => match &setting.value {
                None => (Some(quote!(#[serde(default)])), None),
                Some(value) => {
                    // A text as it is written, for whatever text the argument is.
                    let literal = matches!(value, Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(_), .. }));
                    let value = if literal { quote!(::core::convert::Into::into(#value)) } else { quote!(#value) };
                    let name = quote::format_ident!("__default_{}", ident.unraw());
                    let path = name.to_string();
                    let function = quote! {
                        fn #name() -> #kind {
                            #value
                        }
                    };
                    (Some(quote!(#[serde(default = #path)])), Some(function))
                }
            },
        };
        let range = match self.range()? {
            Some((low, high)) => {
                let (low, high) = (low.map(|low| quote!(min = #low)), high.map(|high| quote!(max = #high)));
                let ends = low.into_iter().chain(high);
                Some(quote!(#[schemars(range(#(#ends),*))]))
            }
            None => None,
        };
        Ok((quote!(#(#attributes)* #rename #default #range pub #ident: #kind), function))
    }

    /// Refuses a value beyond its range.
    pub(crate) fn check(&self) -> syn::Result<Option<TokenStream>> {
        let Some(range) = self.settings.value("range")? else { return Ok(None) };
        let (ident, name) = (&self.ident, self.name()?);
        // What may be left out is within every range then.
        let optional = last(&self.kind).is_some_and(|last| last.ident == "Option");
        let value =
            if optional { quote!(&__args.#ident) } else { quote!(::core::option::Option::Some(&__args.#ident)) };
        Ok(Some(quote! {
            if let ::core::option::Option::Some(__value) = #value {
                ::toolbay::server::within(#name, __value, &(#range))?;
            }
        }))
    }

    fn range(&self) -> syn::Result<Option<(Option<&Expr>, Option<&Expr>)>> {
        match self.settings.value("range")? {
            None => Ok(None),
            Some(Expr::Range(range)) if range.end.is_none() || matches!(range.limits, syn::RangeLimits::Closed(_)) => {
                Ok(Some((range.start.as_deref(), range.end.as_deref())))
            }
            Some(other) => Err(syn::Error::new_spanned(other, "write a range such as `1..=100`, `1..` or `..=100`")),
        }
    }
}
