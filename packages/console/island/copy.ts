/** Shows the buttons that copy the text beside them. @module */

/** Adds them; without a clipboard they stay hidden. */
export function addCopyButtons(): void {
  if (navigator.clipboard === undefined) return
  for (const button of document.querySelectorAll<HTMLButtonElement>('[data-copy]')) {
    button.hidden = false
    button.addEventListener('click', async () => {
      const text = button.parentElement?.querySelector('pre')?.textContent ?? ''
      await navigator.clipboard.writeText(text).then(
        () => mark(button, 'Copied'),
        () => mark(button, 'Not copied'),
      )
    })
  }
}

function mark(button: HTMLButtonElement, word: string): void {
  button.textContent = word
  setTimeout(() => {
    button.textContent = 'Copy'
  }, 1_500)
}
