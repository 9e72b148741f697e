/**
 * The events and the paying calls of the router, of versions 0.1 to 0.9, as human-readable ABIs.
 * Sources: 0.1 to 0.6 from GitHub `yodlpay/tokenlists`, `src/abis`, commit b405782 (MIT); 0.7 to 0.9 from the npm
 * package `@yodlpay/tokenlists` 0.8.40, `YODL_ROUTER_ABIS` (MIT). Left out: other functions and events, and errors.
 * @module
 */
import { type AbiEvent, type AbiFunction, type AbiParameter, parseAbi } from 'viem'

export const decodedVersions = ['0.1', '0.2', '0.3', '0.4', '0.5', '0.6', '0.7', '0.8', '0.9'] as const

const structs = [
  'struct PriceFeed { address feedAddress; int8 feedType; string currency; uint256 amount; uint256 deadline; bytes signature; }',
  'struct App { address yApp; uint256 sessionId; bytes[] payload; }',
  'struct Guard { address guardAddress; bytes[] payload; }',
  'struct Webhook { address webhookAddress; bytes[] payload; }',
]
const signatures: Readonly<Record<string, readonly string[]>> = {
  '0.1 0.2': [
    'event Convert(address indexed priceFeed, int256 exchangeRate)',
    'event Payment(address indexed sender, address indexed receiver, address token, uint256 amount, uint256 fees, bytes32 memo)',
  ],
  '0.1': [
    'function payWithToken(bytes32 _memo, uint256 _amount, address[] _priceFeeds, address _token, address _receiver, address _extraFeeReceiver, uint256 _extraFeeDivisor) returns (bool)',
  ],
  '0.2': [
    'function payWithCurve((address sender, address receiver, uint256 amountIn, uint256 amountOut, bytes32 memo, address[9] route, uint256[3][4] swapParams, address[4] factoryAddresses, address[2] priceFeeds, address extraFeeReceiver, uint256 extraFeeBps, bool returnRemainder) params) payable returns (uint256)',
    'function payWithToken(bytes32 memo, uint256 amount, address[2] priceFeeds, address token, address receiver, address extraFeeReceiver, uint256 extraFeeBps) payable returns (bool)',
    'function payWithUniswap((address sender, address receiver, uint256 amountIn, uint256 amountOut, bytes32 memo, bytes path, address[2] priceFeeds, address extraFeeReceiver, uint256 extraFeeBps, bool returnRemainder, uint8 swapType) params) payable returns (uint256)',
  ],
  '0.3 0.4 0.5 0.6 0.7 0.8 0.9': [
    'event Yodl(address indexed sender, address indexed receiver, address token, uint256 amount, uint256 fees, bytes32 memo)',
    'event Convert(address indexed priceFeed0, address indexed priceFeed1, int256 exchangeRate0, int256 exchangeRate1)',
    'event YodlNativeTokenTransfer(address indexed sender, address indexed receiver, uint256 indexed amount)',
  ],
  '0.3': [
    'function yodlWithCurve((address sender, address receiver, uint256 amountIn, uint256 amountOut, bytes32 memo, address[9] route, uint256[3][4] swapParams, address[4] factoryAddresses, address[2] priceFeeds, address extraFeeReceiver, uint256 extraFeeBps, bool returnRemainder) params) payable returns (uint256)',
    'function yodlWithToken(bytes32 memo, uint256 amount, address[2] priceFeeds, address token, address receiver, address extraFeeReceiver, uint256 extraFeeBps) payable returns (bool)',
    'function yodlWithUniswap((address sender, address receiver, uint256 amountIn, uint256 amountOut, bytes32 memo, bytes path, address[2] priceFeeds, address extraFeeReceiver, uint256 extraFeeBps, bool returnRemainder, uint8 swapType) params) payable returns (uint256)',
  ],
  '0.4': [
    'function yodlWithCurve((address sender, address receiver, uint256 amountIn, uint256 amountOut, bytes32 memo, address[9] route, uint256[3][4] swapParams, address[4] factoryAddresses, address[2] priceFeeds, address extraFeeReceiver, uint256 extraFeeBps, bool returnRemainder, uint256 yd) params) payable returns (uint256)',
    'function yodlWithToken(bytes32 memo, uint256 amount, address[2] priceFeeds, address token, address receiver, address extraFeeReceiver, uint256 extraFeeBps, uint256 yd) payable returns (bool)',
    'function yodlWithUniswap((address sender, address receiver, uint256 amountIn, uint256 amountOut, bytes32 memo, bytes path, address[2] priceFeeds, address extraFeeReceiver, uint256 extraFeeBps, bool returnRemainder, uint8 swapType, uint256 yd) params) payable returns (uint256)',
  ],
  '0.5': [
    'function yodlWithPancake((address sender, address receiver, uint256 amountIn, uint256 amountOut, bytes32 memo, bytes path, address[2] priceFeeds, address extraFeeReceiver, uint256 extraFeeBps, uint8 swapType, uint256 yd, App[] yAppList) params) payable returns (uint256)',
    'function yodlWithToken((bytes32 memo, uint256 amount, address[2] priceFeeds, address token, address receiver, address extraFeeReceiver, uint256 extraFeeBps, uint256 yd, App[] yAppList) params) payable returns (uint256)',
    'function yodlWithUniswap((address sender, address receiver, uint256 amountIn, uint256 amountOut, bytes32 memo, bytes path, address[2] priceFeeds, address extraFeeReceiver, uint256 extraFeeBps, uint8 swapType, uint256 yd, App[] yAppList) params) payable returns (uint256)',
  ],
  '0.6': [
    'function yodlWithPancake((address sender, address receiver, uint256 amountIn, uint256 amountOut, bytes32 memo, bytes path, PriceFeed[2] priceFeeds, address extraFeeReceiver, uint256 extraFeeBps, uint8 swapType, uint256 yd, App[] yAppList) params) payable returns (uint256)',
    'function yodlWithCurve((address sender, address receiver, uint256 amountIn, uint256 amountOut, bytes32 memo, address[9] route, uint256[3][4] swapParams, address[4] factoryAddresses, PriceFeed[2] priceFeeds, address extraFeeReceiver, uint256 extraFeeBps, uint256 yd, App[] yAppList) params) payable returns (uint256)',
  ],
  '0.6 0.7': [
    'function yodlWithToken((bytes32 memo, uint256 amount, PriceFeed[2] priceFeeds, address token, address receiver, address extraFeeReceiver, uint256 extraFeeBps, uint256 yd, App[] yAppList) params) payable returns (uint256)',
    'function yodlWithUniswap((address sender, address receiver, uint256 amountIn, uint256 amountOut, bytes32 memo, bytes path, PriceFeed[2] priceFeeds, address extraFeeReceiver, uint256 extraFeeBps, uint8 swapType, uint256 yd, App[] yAppList) params) payable returns (uint256)',
  ],
  '0.6 0.7 0.8 0.9': [
    'event ConvertWithExternalRate(string indexed currency0, address indexed priceFeed1, int256 exchangeRate0, int256 exchangeRate1)',
  ],
  '0.7': [
    'function yodlWithCurve((address sender, address receiver, uint256 amountIn, uint256 amountOut, bytes32 memo, address[11] route, uint256[5][5] swapParams, address[5] factoryAddresses, PriceFeed[2] priceFeeds, address extraFeeReceiver, uint256 extraFeeBps, uint256 yd, App[] yAppList) params) payable returns (uint256)',
  ],
  '0.8 0.9': [
    'function yodlWithAcross((bytes32 memo, uint256 amount, PriceFeed[2] priceFeeds, address token, address receiver, address extraFeeReceiver, uint256 extraFeeBps, uint256 yd, Guard[] guards, Webhook[] webhooks, address outputToken, uint256 outputAmount, uint256 destinationChainId, address exclusiveRelayer, uint32 quoteTimestamp, uint32 fillDeadline, uint32 exclusivityDeadline, bytes message) params) payable returns (uint256)',
    'function yodlWithCurve((address sender, address receiver, uint256 amountIn, uint256 amountOut, bytes32 memo, address[11] route, uint256[5][5] swapParams, address[5] pools, PriceFeed[2] priceFeeds, address extraFeeReceiver, uint256 extraFeeBps, uint256 yd, Guard[] guards, Webhook[] webhooks) params) payable returns (uint256)',
    'function yodlWithToken((bytes32 memo, uint256 amount, PriceFeed[2] priceFeeds, address token, address receiver, address extraFeeReceiver, uint256 extraFeeBps, uint256 yd, Guard[] guards, Webhook[] webhooks) params) payable returns (uint256)',
    'function yodlWithUniswap((address sender, address receiver, uint256 amountIn, uint256 amountOut, bytes32 memo, bytes path, PriceFeed[2] priceFeeds, address extraFeeReceiver, uint256 extraFeeBps, uint8 swapType, uint256 yd, Guard[] guards, Webhook[] webhooks) params) payable returns (uint256)',
  ],
  '0.8': [
    'function yodlWithPancake((address sender, address receiver, uint256 amountIn, uint256 amountOut, bytes32 memo, bytes path, PriceFeed[2] priceFeeds, address extraFeeReceiver, uint256 extraFeeBps, uint8 swapType, uint256 yd, Guard[] guards, Webhook[] webhooks) params) payable returns (uint256)',
  ],
  '0.9': [
    'function yodlWithSwappedToken((bytes32 memo, uint256 amount, PriceFeed[2] priceFeeds, address token, address receiver, address extraFeeReceiver, uint256 extraFeeBps, uint256 yd, Guard[] guards, Webhook[] webhooks, uint256 convenienceFeeBps) params) payable returns (uint256)',
  ],
}

function routerAbi(version: string) {
  const items = Object.entries(signatures).filter(([versions]) => versions.split(' ').includes(version))
  return parseAbi([...structs, ...items.flatMap(([, item]) => item)])
}

/** The functions that pay. */
export function routerFunctions(version: string): AbiFunction[] {
  return routerAbi(version).filter((item) => item.type === 'function')
}

export function routerEvents(version: string): AbiEvent[] {
  return routerAbi(version).filter((item) => item.type === 'event')
}

/** Builds a value of any ABI type: given fields by name, all others by `fallback` from their type. */
export function getExample(
  parameter: AbiParameter,
  given: Readonly<Record<string, unknown>>,
  fallback: (type: string) => unknown,
): unknown {
  const { type, name = '' } = parameter
  if (name in given) return given[name]
  const list = /^(.*)\[(\d*)\]$/.exec(type)
  if (list !== null) {
    const item = { ...parameter, type: list[1] ?? '', name: '' }
    return Array.from({ length: Number(list[2] || 2) }, () => getExample(item, given, fallback))
  }
  if (type === 'tuple' && 'components' in parameter)
    return Object.fromEntries(parameter.components.map((part) => [part.name, getExample(part, given, fallback)]))
  return fallback(type)
}
