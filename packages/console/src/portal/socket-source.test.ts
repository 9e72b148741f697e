import { expect, it } from 'vitest'
import { socketSource } from './sign-in.js'

it.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0db8::1', '2001:db8:0:0::/64'],
  ['2001:db8::5:6:7:8', '2001:db8:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  [undefined, 'unknown'],
])('the source of %s is %s', (remoteAddress, source) => {
  const request = new Request('http://127.0.0.1/portal')
  expect(socketSource(request, { incoming: { socket: { remoteAddress } } })).toBe(source)
})
