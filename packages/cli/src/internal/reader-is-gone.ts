/** Output that nobody reads any more. @module */

/** Whether writing failed because whoever read has gone: a pipe says EPIPE, a terminal that was closed says EIO. */
export function readerIsGone({ code }: NodeJS.ErrnoException, isTerminal: boolean): boolean {
  return code === 'EPIPE' || (isTerminal && code === 'EIO')
}
