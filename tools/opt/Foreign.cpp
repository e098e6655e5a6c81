//===- Foreign.cpp - The text of torch-mlir's and IREE's operations -------===//
//
// Dialects whose operations stay unregistered: `layout-expand-foreign` reads
// them by their names. Their own text is read as what it says in generic form.
//
//===----------------------------------------------------------------------===//

#include "Foreign.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;

/// `(%a, %b : T, U)`, after `ins` or `outs`; returns how many there are, or -1
/// after an error.
static int32_t parseOperands(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Type> types;
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseLParen() || parser.parseOperandList(operands) ||
      parser.parseColonTypeList(types) || parser.parseRParen() ||
      parser.resolveOperands(operands, types, at, result.operands))
    return -1;
  return operands.size();
}

/// What stands between the name and the region: `dimension(1)`,
/// `dimension_map = [0]`, a dictionary, `ins(..)` and `outs(..)`.
static ParseResult parseClauses(OpAsmParser &parser, OperationState &result) {
  int32_t groups[] = {0, 0};
  StringRef keyword;
  while (true) {
    if (parser.parseOptionalAttrDict(result.attributes))
      return failure();
    if (parser.parseOptionalKeyword(&keyword))
      break;
    if (keyword == "ins" || keyword == "outs") {
      int32_t &count = groups[keyword == "outs"];
      if ((count = parseOperands(parser, result)) < 0)
        return failure();
      // A brace after the outputs begins the region.
      if (keyword == "outs")
        break;
      continue;
    }
    Attribute value;
    if (succeeded(parser.parseOptionalEqual())) {
      SmallVector<int64_t> numbers;
      if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
            return parser.parseInteger(numbers.emplace_back());
          }))
        return failure();
      value = parser.getBuilder().getDenseI64ArrayAttr(numbers);
    } else if (parser.parseLParen() || parser.parseAttribute(value) ||
               parser.parseRParen()) {
      return failure();
    }
    result.addAttribute(keyword, value);
  }
  result.addAttribute("operandSegmentSizes",
                      parser.getBuilder().getDenseI32ArrayAttr(groups));
  return success();
}

/// `-> T, U`, `-> (T, U)` or `: T, U`.
static ParseResult parseResults(OpAsmParser &parser, OperationState &result) {
  if (failed(parser.parseOptionalArrow()) &&
      failed(parser.parseOptionalColon()))
    return success();
  if (failed(parser.parseOptionalLParen()))
    return parser.parseTypeList(result.types);
  return failure(parser.parseTypeList(result.types) || parser.parseRParen());
}

static ParseResult parseOperation(OpAsmParser &parser, OperationState &result) {
  if (parseClauses(parser, result))
    return failure();
  auto region = std::make_unique<Region>();
  OptionalParseResult parsed = parser.parseOptionalRegion(*region);
  if (parsed.has_value()) {
    if (failed(*parsed))
      return failure();
    result.addRegion(std::move(region));
  }
  return parseResults(parser, result);
}

static ParseResult parseYield(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Type> types;
  SMLoc at = parser.getCurrentLocation();
  return failure(parser.parseOptionalAttrDict(result.attributes) ||
                 parser.parseOperandList(operands) ||
                 parser.parseOptionalColonTypeList(types) ||
                 parser.resolveOperands(operands, types, at, result.operands));
}

namespace {
/// A dialect whose operations stay unregistered.
class Foreign : public Dialect {
public:
  Foreign(StringRef name, MLIRContext *context, TypeID id)
      : Dialect(name, context, id) {
    allowUnknownOperations();
  }

  std::optional<ParseOpHook>
  getParseOperationHook(StringRef name) const override {
    return name.ends_with(".yield") ? ParseOpHook(parseYield)
                                    : ParseOpHook(parseOperation);
  }
};

struct TorchDialect : Foreign {
  explicit TorchDialect(MLIRContext *context)
      : Foreign(getDialectNamespace(), context, TypeID::get<TorchDialect>()) {}
  static constexpr StringLiteral getDialectNamespace() { return "tm_tensor"; }
};

struct IreeDialect : Foreign {
  explicit IreeDialect(MLIRContext *context)
      : Foreign(getDialectNamespace(), context, TypeID::get<IreeDialect>()) {}
  static constexpr StringLiteral getDialectNamespace() {
    return "iree_linalg_ext";
  }
};
} // namespace

void layout::registerForeignDialects(DialectRegistry &registry) {
  registry.insert<TorchDialect, IreeDialect>();
}
