/** Changes two components of the default theme that a screen reader reads badly. @module */
import type { UserConfig } from 'vitepress'

/** By component: a text of its template, and the text in its place. */
const replacements: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  // The group itself is the button; a second one inside it has no use.
  'VPSidebarItem.vue': [
    ['role="button"\n        aria-label="toggle section"', 'aria-hidden="true"'],
    ['@keydown.enter="onCaretClick"\n        tabindex="0"', ''],
  ],
  'VPHome.vue': [
    ['<div \n    class="VPHome"', '<main class="VPHome"'],
    ['</div>\n</template>', '</main>\n</template>'],
  ],
}

/** The plugin that changes them. Its `transform` throws an `Error` when another version of the theme lacks a text. */
export function createAccessibleTheme(): NonNullable<NonNullable<UserConfig['vite']>['plugins']>[number] {
  return {
    name: 'accessible-theme',
    enforce: 'pre',
    transform(code: string, id: string) {
      const changes = replacements[/[^/]+[.]vue$/.exec(id)?.[0] ?? '']
      if (changes === undefined) return undefined
      return changes.reduce((text, [found, replaced]) => {
        if (!text.includes(found)) throw new Error(`${id} no longer has ${found}`)
        return text.replace(found, replaced)
      }, code)
    },
  }
}
