export { type Amount, isAmount, parseAmount } from '../amounts/amount.js'
export { addAmounts, compareAmounts, subtractAmounts } from '../amounts/arithmetic.js'
export { type FormatOptions, formatAmount, fromBaseUnits, type Rounding, toBaseUnits } from '../amounts/format.js'
