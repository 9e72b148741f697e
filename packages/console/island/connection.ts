/** Keeps the page's stream of events open while the page is visible. @module */

/** Time until the next attempt after an answer with which a browser gives up, in milliseconds. */
const reopenMs = 10_000
/** Time that a reconnection may take unsaid, in milliseconds: streams end regularly. */
const quietMs = 2_000

/**
 * Opens it. A browser has six connections to a host, for all tabs: hidden ones hold none.
 * @param listeners - By the name of the event: they get its data.
 * @param onState - Receives whether the stream is open.
 */
export function connect(
  topic: string,
  listeners: Readonly<Record<string, (data: string) => void>>,
  onState: (isConnected: boolean) => void,
): void {
  const query = new URLSearchParams(topic)
  let source: EventSource | null = null
  let quiet: ReturnType<typeof setTimeout> | undefined
  const lost = () => {
    clearTimeout(quiet)
    quiet = setTimeout(() => onState(false), quietMs)
  }
  const close = () => {
    source?.close()
    source = null
    lost()
  }
  const open = () => {
    if (source !== null || document.hidden) return
    const own = new EventSource(`/console/live?${query}`)
    source = own
    own.addEventListener('open', () => {
      clearTimeout(quiet)
      onState(true)
    })
    own.addEventListener('error', () => {
      lost()
      if (own.readyState !== EventSource.CLOSED) return
      close()
      setTimeout(open, reopenMs)
    })
    for (const [name, listen] of Object.entries(listeners))
      own.addEventListener(name, ({ data, lastEventId }) => {
        // The browser sends the last id only when it reconnects by itself.
        if (lastEventId !== '') query.set('after', lastEventId)
        listen(data)
      })
  }
  document.addEventListener('visibilitychange', () => (document.hidden ? close() : open()))
  open()
}
