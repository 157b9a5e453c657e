//! Expressions in the coordinates, such as `if(x < 0.5, 43, 4)`.

mod places;

use std::ops::Range;

use evalexpr::{EvalexprError, Node, Operator, Value, build_operator_tree};

/// A function of a point, whose numbers are all floating-point; what is true is 1, else 0.
#[derive(Debug, Clone)]
pub(crate) enum Expression {
    Number(f64),
    Coordinate(usize),
    Unary(Unary, Box<Self>),
    Binary(Binary, Box<[Self; 2]>),
    /// Choice of three parts: the second where the first is not 0, else the third.
    Choice(Box<[Self; 3]>),
}

type Unary = fn(f64) -> f64;
type Binary = fn(f64, f64) -> f64;

/// Syntax of expressions, for people.
pub(crate) const PARTS: &str = "an expression has x, y, z, pi, numbers, parentheses, + - * / % ^, \
    < <= > >= == != && || !, if(condition, a, b), min(a, b), max(a, b), atan2(y, x), hypot(a, b) \
    and the functions abs, sqrt, cbrt, exp, ln, log2, log10, sin, cos, tan, asin, acos, atan, sinh, \
    cosh, tanh, floor, ceil and round";

/// Bytes of the longest expression: what is deeper might not fit on the stack.
const LONGEST: usize = 1000;

const COORDINATES: [&str; 3] = ["x", "y", "z"];

const UNARY: [(&str, Unary); 19] = [
    ("abs", f64::abs),
    ("sqrt", f64::sqrt),
    ("cbrt", f64::cbrt),
    ("exp", f64::exp),
    ("ln", f64::ln),
    ("log2", f64::log2),
    ("log10", f64::log10),
    ("sin", f64::sin),
    ("cos", f64::cos),
    ("tan", f64::tan),
    ("asin", f64::asin),
    ("acos", f64::acos),
    ("atan", f64::atan),
    ("sinh", f64::sinh),
    ("cosh", f64::cosh),
    ("tanh", f64::tanh),
    ("floor", f64::floor),
    ("ceil", f64::ceil),
    ("round", f64::round),
];

const BINARY: [(&str, Binary); 4] =
    [("min", f64::min), ("max", f64::max), ("atan2", f64::atan2), ("hypot", f64::hypot)];

/// Why a text is no expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Reason, as the end of a sentence.
    pub why: String,
    /// Range of bytes of the text that is wrong, where it is known.
    pub at: Option<Range<usize>>,
}

impl Expression {
    /// # Errors
    /// What is wrong with `text`, and where.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        if text.len() > LONGEST {
            let why = format!("it is longer than {LONGEST} characters");
            return Err(Fault { why, at: None });
        }
        let tree = build_operator_tree(text).map_err(|error| {
            let why = match error {
                EvalexprError::AppendedToLeafNode => {
                    "an operator is missing between two values".into()
                }
                ref other => other.to_string().trim_end_matches('.').replacen("Found", "it has", 1),
            };
            Fault { why, at: places::unmatched(text) }
        })?;
        Self::of(&tree).map_err(|why| Fault { at: places::of_quoted(text, &why), why })
    }

    /// Evaluates the expression at the point `x`.
    pub fn at(&self, x: &[f64; 3]) -> f64 {
        match self {
            Self::Number(value) => *value,
            Self::Coordinate(i) => x[*i],
            Self::Unary(function, a) => function(a.at(x)),
            Self::Binary(function, ab) => function(ab[0].at(x), ab[1].at(x)),
            Self::Choice(parts) => parts[if parts[0].at(x) != 0.0 { 1 } else { 2 }].at(x),
        }
    }

    fn of(node: &Node) -> Result<Self, String> {
        let unary = |function, a| Ok(Self::Unary(function, Box::new(Self::of(a)?)));
        match (node.operator(), node.children()) {
            (Operator::RootNode, [only]) => Self::of(only),
            (Operator::Const { value: Value::Int(value) }, _) => Ok(Self::Number(*value as f64)),
            (Operator::Const { value: Value::Float(value) }, _) => Ok(Self::Number(*value)),
            (Operator::VariableIdentifierRead { identifier }, _) => Self::variable(identifier),
            (Operator::FunctionIdentifier { identifier }, [argument]) => {
                Self::call(identifier, arguments(argument))
            }
            (Operator::Neg, [a]) => unary(|a| -a, a),
            (Operator::Not, [a]) => unary(|a| truth(a == 0.0), a),
            (Operator::RootNode, _) => Err("a value is missing".into()),
            (operator, [a, b]) => match infix(operator) {
                Some(function) => {
                    Ok(Self::Binary(function, Box::new([Self::of(a)?, Self::of(b)?])))
                }
                None => Err(unknown(operator)),
            },
            (operator, _) if infix(operator).is_some() => {
                Err(format!("`{operator}` lacks a value"))
            }
            (operator, _) => Err(unknown(operator)),
        }
    }

    fn variable(name: &str) -> Result<Self, String> {
        match COORDINATES.iter().position(|known| *known == name) {
            Some(i) => Ok(Self::Coordinate(i)),
            None if name == "pi" => Ok(Self::Number(std::f64::consts::PI)),
            None => Err(format!("`{name}` is no variable")),
        }
    }

    fn call(name: &str, arguments: &[Node]) -> Result<Self, String> {
        let unary = UNARY.iter().find(|(known, _)| *known == name);
        let binary = BINARY.iter().find(|(known, _)| *known == name);
        let wanted = match (unary, binary) {
            (Some(_), _) => 1,
            (_, Some(_)) => 2,
            _ if name == "if" => 3,
            _ => return Err(format!("`{name}` is no function")),
        };

        let values = arguments.iter().map(Self::of).collect::<Result<Vec<_>, _>>()?;
        let wrong = |values: Vec<Self>| {
            let plural = if wanted == 1 { "" } else { "s" };
            format!("`{name}` takes {wanted} value{plural}, not {}", values.len())
        };

        Ok(match (unary, binary) {
            (Some((_, function)), _) => {
                let [a] = values.try_into().map_err(wrong)?;
                Self::Unary(*function, Box::new(a))
            }
            (_, Some((_, function))) => {
                Self::Binary(*function, Box::new(values.try_into().map_err(wrong)?))
            }
            _ => Self::Choice(Box::new(values.try_into().map_err(wrong)?)),
        })
    }
}

fn unknown(operator: &Operator) -> String {
    format!("`{}` is not known", operator.to_string().trim())
}

/// The arguments of a call: those of a tuple in parentheses, else one.
fn arguments(node: &Node) -> &[Node] {
    match (node.operator(), node.children()) {
        (Operator::RootNode, [only]) => arguments(only),
        (Operator::RootNode, []) => &[],
        (Operator::Tuple, all) => all,
        _ => std::slice::from_ref(node),
    }
}

fn truth(is_true: bool) -> f64 {
    f64::from(u8::from(is_true))
}

fn infix(operator: &Operator) -> Option<Binary> {
    Some(match operator {
        Operator::Add => |a, b| a + b,
        Operator::Sub => |a, b| a - b,
        Operator::Mul => |a, b| a * b,
        Operator::Div => |a, b| a / b,
        Operator::Mod => |a, b| a % b,
        Operator::Exp => f64::powf,
        Operator::Lt => |a, b| truth(a < b),
        Operator::Leq => |a, b| truth(a <= b),
        Operator::Gt => |a, b| truth(a > b),
        Operator::Geq => |a, b| truth(a >= b),
        Operator::Eq => |a, b| truth(a == b),
        Operator::Neq => |a, b| truth(a != b),
        Operator::And => |a, b| truth(a != 0.0 && b != 0.0),
        Operator::Or => |a, b| truth(a != 0.0 || b != 0.0),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_arithmetic() {
        for (text, expected) in [
            ("-x^2", -4.0),
            ("1/2*x", 1.0),
            ("7/2", 3.5),
            ("2^-1", 0.5),
            ("-2^2", -4.0),
            ("(-2)^2", 4.0),
            ("2 - 3 - 4", -5.0),
            ("8/4/2", 1.0),
            ("-x - -y", 1.0),
            ("1e-3 + 2.5E2*.5", 125.001),
            ("if(x < 0.5, 43, 4)", 4.0),
            ("if(x >= 2 && !(y < 1) || z == 9, -min(y, z), 1)", -3.0),
            ("if(0, 1/0, max(sqrt(x*2), cos(pi)))", 2.0),
            ("hypot(y, z+(-1)) % 3", 18f64.sqrt() % 3.0),
            ("sin(x)^2 + cos(x)^2 + abs(-y)", 4.0),
            ("10000000000000000000", 1e19),
        ] {
            let found = Expression::parse(text).unwrap().at(&[2.0, 3.0, 4.0]);
            assert!((found - expected).abs() <= 1e-14 * expected.abs(), "{text}: {found}");
        }
    }

    #[test]
    fn what_is_no_expression_says_why() {
        let errors = [
            "", "2 +", "(x", "x)", "x y", "w", "sine(x)", "if(x, 1)", "sin()", "\"a\"", "x = 2",
            "1; 2", "1, 2", "x +* 2", "2x", "x & y", "*",
        ];

        let shown = errors.map(|text| {
            let Fault { why, at } = Expression::parse(text).unwrap_err();
            let at =
                at.map_or(String::new(), |at| format!(" [{}: {}]", at.start, &text[at.clone()]));
            format!("{text}: {why}{at}")
        });

        insta::assert_snapshot!(shown.join("\n"), @r#"
        : a value is missing
        2 +: `+` lacks a value [2: +]
        (x: it has an unmatched opening parenthesis '(' [0: (]
        x): it has an unmatched closing parenthesis ')' [1: )]
        x y: `x` is no function [0: x]
        w: `w` is no variable [0: w]
        sine(x): `sine` is no function [0: sine]
        if(x, 1): `if` takes 3 values, not 2 [0: if]
        sin(): `sin` takes 1 value, not 0 [0: sin]
        "a": `"a"` is not known [0: "a"]
        x = 2: `=` is not known [2: =]
        1; 2: `;` is not known [1: ;]
        1, 2: `,` is not known [1: ,]
        x +* 2: `*` lacks a value [3: *]
        2x: `2x` is no variable [0: 2x]
        x & y: it has a partial token '&' that should not be followed by ' '
        *: `*` lacks a value [0: *]
        "#);
    }

    /// The longest that a case file may have.
    #[test]
    fn deep_expressions_fit_on_the_stack() {
        let deep = ["(".repeat(499) + "x" + &")".repeat(499), "-".repeat(999) + "x"];
        let deep = deep.into_iter().chain(["abs ".repeat(249) + "x", "1^".repeat(499) + "x"]);
        for text in deep {
            assert!(text.len() <= LONGEST);
            Expression::parse(&text).unwrap().at(&[1.0; 3]);
        }
    }
}
