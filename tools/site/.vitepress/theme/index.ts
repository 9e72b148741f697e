/** The default theme with the site's colours. @module */
import theme from 'vitepress/theme'
import './site.css'

export default theme
