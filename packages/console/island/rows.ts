/** Places a changed row in the list of a page, by the order of the list. @module */

/** Longest list of a live page. */
const mostRows = 100

/**
 * Puts the row at its place. A row older than the last one is left out where the list goes on at another page.
 * @param matches - Whether it matches the filters of the page; a row that does not is removed.
 * @returns Whether there is a list.
 */
export function placeRow(row: HTMLTableRowElement, matches: boolean): boolean {
  const list = document.getElementById('rows')
  if (list === null) return false
  const rows = [...list.querySelectorAll<HTMLTableRowElement>('tr')]
  const known = rows.find((each) => each.dataset['key'] === row.dataset['key'])
  // A row with the focus stays as it is: replacing it would lose the place of the keyboard.
  if (matches && known?.contains(document.activeElement)) return true
  row.classList.add('changed')
  if (!matches) known?.remove()
  else if (known !== undefined && known.dataset['order'] === row.dataset['order']) known.replaceWith(row)
  else {
    known?.remove()
    insert(list, row)
  }
  return true
}

function insert(list: HTMLElement, row: HTMLTableRowElement): void {
  const order = orderOf(row)
  const next = [...list.querySelectorAll<HTMLTableRowElement>('tr')].find((each) => orderOf(each) < order)
  if (next === undefined && goesOn(list)) return
  list.insertBefore(row, next ?? null)
  while (list.children.length > mostRows) {
    list.lastElementChild?.remove()
    list.dataset['cut'] = ''
  }
}

const orderOf = (row: HTMLTableRowElement) => row.dataset['order'] ?? ''
/** Whether older rows are on another page, or were cut from this one. */
const goesOn = (list: HTMLElement) =>
  list.dataset['cut'] !== undefined || document.querySelector('.pager a[rel=next]') !== null
