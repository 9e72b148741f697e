export {
  type Amount,
  addAmounts,
  compareAmounts,
  type FormatOptions,
  formatAmount,
  fromBaseUnits,
  isAmount,
  parseAmount,
  type Rounding,
  subtractAmounts,
  toBaseUnits,
} from '../amounts.js'
