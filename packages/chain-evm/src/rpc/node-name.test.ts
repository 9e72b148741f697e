import { expect, test } from 'vitest'
import { formatNodeName } from './nodes.js'

test.each([
  ['https://rpc.node.example/v2/k3y?token=k3y', 'rpc.node.example #1'],
  ['https://us3r:passw0rd@rpc.node.example:8545/', 'rpc.node.example #1'],
  ['https://k3y-of-the-node.nodes.example/', '*.nodes.example #1'],
  ['wss://a.k3y-of-the-node.nodes.example/', 'a.*.nodes.example #1'],
  ['http://127.0.0.1:8545', '127.0.0.1 #1'],
  ['http://[::1]:8545', '[::1] #1'],
  ['http://localhost:8545', 'localhost #1'],
  [undefined, 'transport #1'],
])('%s is called %s', (url, expected) => expect(formatNodeName(url, 1)).toBe(expected))
