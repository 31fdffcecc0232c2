import type { Literal } from 'mdast'
import type { Extension as FromMarkdownExtension } from 'mdast-util-from-markdown'
import { markdownLineEnding } from 'micromark-util-character'
import type { Code, Construct, Effects, State, Extension as SyntaxExtension } from 'micromark-util-types'
import type { Processor } from 'unified'
import { ownPageLinkText, parseWikiLinkText, type WikiLinkText } from './wiki-link-text.ts'

/** `value` is the text that a reader sees: the alias, or else the target. */
interface WikiLinkNode extends Literal {
  type: 'wikiLink'
  embed: boolean
  link: WikiLinkText
}

declare module 'mdast' {
  interface PhrasingContentMap {
    wikiLink: WikiLinkNode
  }
  interface RootContentMap {
    wikiLink: WikiLinkNode
  }
}

declare module 'micromark-util-types' {
  interface TokenTypeMap {
    wikiLink: 'wikiLink'
  }
}

declare module 'unified' {
  interface Data {
    micromarkExtensions?: SyntaxExtension[]
    fromMarkdownExtensions?: (FromMarkdownExtension | FromMarkdownExtension[])[]
  }
}

const leftBracket = 91
const rightBracket = 93
const exclamationMark = 33

const wikiLink: Construct = { name: 'wikiLink', tokenize: tokenizeWikiLink }

/** micromark syntax: `[[…]]` and `![[…]]` on one line, without brackets inside, outside code and HTML. */
const wikiLinkSyntax: SyntaxExtension = { text: { [exclamationMark]: wikiLink, [leftBracket]: wikiLink } }

/** mdast nodes of type `wikiLink` for that syntax; a link within the page (`[[#Heading]]`) leads nowhere else, and is text. */
const wikiLinkFromMarkdown: FromMarkdownExtension = {
  enter: {
    wikiLink(token) {
      const source = this.sliceSerialize(token)
      const embed = source.startsWith('!')
      const inner = source.slice(embed ? 3 : 2, -2)
      const link = parseWikiLinkText(inner)
      if (link) this.enter({ type: 'wikiLink', value: link.alias ?? link.target, embed, link }, token)
      else this.enter({ type: 'text', value: ownPageLinkText(inner) ?? source }, token)
    },
  },
  exit: {
    wikiLink(token) {
      this.exit(token)
    },
  },
}

/** unified plugin; after remark-gfm, so that `[[` wins over its constructs. */
export function remarkWikiLink(this: Processor): undefined {
  const data = this.data()
  data.micromarkExtensions = [...(data.micromarkExtensions ?? []), wikiLinkSyntax]
  data.fromMarkdownExtensions = [...(data.fromMarkdownExtensions ?? []), wikiLinkFromMarkdown]
}

function tokenizeWikiLink(effects: Effects, ok: State, nok: State): State {
  let inner = ''
  return start

  function start(code: Code): State | undefined {
    effects.enter('wikiLink')
    if (code !== exclamationMark) return firstBracket(code)
    effects.consume(code)
    return firstBracket
  }

  function firstBracket(code: Code): State | undefined {
    if (code !== leftBracket) return nok(code)
    effects.consume(code)
    return secondBracket
  }

  function secondBracket(code: Code): State | undefined {
    if (code !== leftBracket) return nok(code)
    effects.consume(code)
    return inside
  }

  function inside(code: Code): State | undefined {
    if (code === null || markdownLineEnding(code) || code === leftBracket) return nok(code)
    effects.consume(code)
    if (code === rightBracket) return close
    // micromark's negative codes: -2 is a tab, -1 the columns that it fills.
    if (code >= 0) inner += String.fromCharCode(code)
    else if (code === -2) inner += '\t'
    return inside
  }

  function close(code: Code): State | undefined {
    if (code !== rightBracket) return nok(code)
    if (parseWikiLinkText(inner) === undefined && ownPageLinkText(inner) === undefined) return nok(code)
    effects.consume(code)
    effects.exit('wikiLink')
    return ok
  }
}
