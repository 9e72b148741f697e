/** The router's call that pays across chains. @module */

/** `yodlWithAcross` of versions 0.8 and 0.9. */
const selector = '0xde537614'

/** Whether calldata of a router deposits into a bridge. */
export function isBridgeCall(calldata: string): boolean {
  return calldata.slice(0, selector.length).toLowerCase() === selector
}
