/**
 * Positions of the arguments in the router's paying calls, by selector, versions 0.1 to 0.9. A test derives them from
 * the ABIs.
 *
 * `token` calls begin with memo, amount and the price feeds. Their fixed part ends with token, receiver and extra fee.
 * `path` and `route` calls swap first: they begin with sender, receiver, amountIn, amountOut and memo.
 * A `path` is bytes of ABI words with the token in last: (out, fee, in) or (out, fee, base, fee, in), by `swapType`.
 * A `route` is a fixed list of addresses with the token in first.
 * @module
 */

/** Places are 32-byte words from the start of the arguments, or of the struct that holds them. */
export interface CallLayout {
  readonly versions: readonly string[]
  readonly form: 'token' | 'path' | 'route'
  /** Whether the only argument is a struct with a dynamic field, so that an offset comes first. */
  readonly isStruct: boolean
  /** `list`: addresses, a dynamic array; `pair`: two addresses in place; `structs`: two dynamic structs. */
  readonly feedForm: 'list' | 'pair' | 'structs'
  readonly feeds: number
  /** The receiver of the extra fee; its size is the next word. */
  readonly extraFee: number
  readonly swapType: number | null
  readonly convenienceFee: number | null
  /** Whether the router charges nothing, whatever the arguments say. */
  readonly isFree: boolean
}

type Places = Pick<CallLayout, 'form' | 'isStruct' | 'feedForm' | 'feeds' | 'extraFee'> & Partial<CallLayout>

function layout(versions: string, places: Places): CallLayout {
  return { swapType: null, convenienceFee: null, isFree: false, ...places, versions: versions.split(' ') }
}

const flatToken = { form: 'token', isStruct: false, feedForm: 'pair', feeds: 2, extraFee: 6 } as const
const structToken = { form: 'token', isStruct: true, feedForm: 'structs', feeds: 2, extraFee: 5 } as const
const pairPath = { form: 'path', isStruct: true, feedForm: 'pair', feeds: 6, extraFee: 8 } as const
const structPath = { form: 'path', isStruct: true, feedForm: 'structs', feeds: 6, extraFee: 7, swapType: 9 } as const
const pairRoute = { form: 'route', isStruct: false, feedForm: 'pair', feeds: 30, extraFee: 32 } as const
const structRoute = { form: 'route', isStruct: true, feedForm: 'structs' } as const

/** By selector, lowercase. */
export const callLayouts: Readonly<Record<string, CallLayout>> = {
  // payWithToken, yodlWithToken
  '0x883633fe': layout('0.1', { ...flatToken, feedForm: 'list', extraFee: 5 }),
  '0x6404f8fe': layout('0.2', flatToken),
  '0xe4de1126': layout('0.3', flatToken),
  '0xb886fe04': layout('0.4', flatToken),
  '0x77e9d31a': layout('0.5', { ...flatToken, isStruct: true }),
  '0x030d8740': layout('0.6 0.7', structToken),
  '0xd33dda5c': layout('0.8 0.9', structToken),
  // yodlWithAcross, yodlWithSwappedToken
  '0xde537614': layout('0.8 0.9', { ...structToken, isFree: true }),
  '0x6f0cafb9': layout('0.9', { ...structToken, convenienceFee: 10 }),
  // payWithUniswap, yodlWithUniswap, yodlWithPancake
  '0x6038ce65': layout('0.2', { ...pairPath, swapType: 11 }),
  '0xc9610d04': layout('0.3', { ...pairPath, swapType: 11 }),
  '0xddbc8a39': layout('0.4', { ...pairPath, swapType: 11 }),
  '0xb3a0a939': layout('0.5', { ...pairPath, swapType: 10 }),
  '0x95ba90cb': layout('0.5', { ...pairPath, swapType: 10 }),
  '0xba54802e': layout('0.6 0.7', structPath),
  '0xbe88eeaf': layout('0.6', structPath),
  '0xe5417e8a': layout('0.8 0.9', structPath),
  '0x7aa2fc43': layout('0.8', structPath),
  // payWithCurve, yodlWithCurve
  '0x534ce2a5': layout('0.2', pairRoute),
  '0x870976e1': layout('0.3', pairRoute),
  '0xd64bf9d2': layout('0.4', pairRoute),
  '0xc70994c0': layout('0.6', { ...structRoute, feeds: 30, extraFee: 31 }),
  '0xde684ade': layout('0.7', { ...structRoute, feeds: 46, extraFee: 47 }),
  '0x9ad8ab02': layout('0.8 0.9', { ...structRoute, feeds: 46, extraFee: 47 }),
}
