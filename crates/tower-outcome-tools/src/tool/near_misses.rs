//! What is held back while a call is unresolved.

/// Which calls are held back while an earlier one is unresolved, because they may be the same wish
/// in other words: a model that was told "it is being confirmed" asks again with another amount.
///
/// A call that is held back sends nothing and is answered with the earlier one's
/// `unknown/still_confirming` and key. A call of the same lane is held back as well, whatever tool
/// it is of, unless this is lifted. Of an earlier call that another process made only scope and
/// tool are known, so that it holds back every call of both.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum NearMisses {
    /// Those of the same tool and scope that have at least one member of their key in common.
    Alike,
    /// None. Two calls of which one may still land then depend on nothing but the provider.
    Lifted,
    /// All of the same tool and scope.
    #[default]
    SameTool,
}
