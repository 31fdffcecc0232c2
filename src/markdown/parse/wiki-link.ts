import type { Literal, TextData } from 'mdast'
import type { Extension as FromMarkdownExtension } from 'mdast-util-from-markdown'
import { markdownLineEnding } from 'micromark-util-character'
import type { Code, Construct, Effects, State, Extension as SyntaxExtension } from 'micromark-util-types'
import type { Processor } from 'unified'
import {
  addressBehind,
  maxAddress,
  ownPageLinkText,
  ownPagePlace,
  parseWikiLinkText,
  type WikiLinkText,
} from './wiki-link-text.ts'

/** Wiki link in mdast. `value`: the visible text, which is the alias or else the target. */
interface WikiLinkNode extends Literal {
  type: 'wikiLink'
  embed: boolean
  link: WikiLinkText
}

declare module 'mdast' {
  interface TextData {
    /** Heading or block that a link within its own page leads to. */
    ownPlace?: string
  }
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
const leftParenthesis = 40
const rightParenthesis = 41

const wikiLink: Construct = { name: 'wikiLink', tokenize: tokenizeWikiLink }

/** micromark syntax: `[[…]]` and `![[…]]` on one line, outside code and HTML. Inside, brackets stand alone or in pairs. */
const wikiLinkSyntax: SyntaxExtension = { text: { [exclamationMark]: wikiLink, [leftBracket]: wikiLink } }

/** mdast nodes of type `wikiLink` for that syntax. A link within the page (`[[#Heading]]`) becomes text. */
const wikiLinkFromMarkdown: FromMarkdownExtension = {
  enter: {
    wikiLink(token) {
      const source = this.sliceSerialize(token)
      const embed = source.startsWith('!')
      const inner = source.slice(embed ? 3 : 2, -2)
      const link = parseWikiLinkText(inner)
      if (link) this.enter({ type: 'wikiLink', value: link.alias ?? link.target, embed, link }, token)
      else this.enter({ type: 'text', value: ownPageLinkText(inner) ?? source, data: ownPlace(inner) }, token)
    },
  },
  exit: {
    wikiLink(token) {
      this.exit(token)
    },
  },
}

/** Adds wiki links to a unified processor. Must follow remark-gfm, so that `[[` wins over its constructs. */
export function remarkWikiLink(this: Processor): undefined {
  const data = this.data()
  data.micromarkExtensions = [...(data.micromarkExtensions ?? []), wikiLinkSyntax]
  data.fromMarkdownExtensions = [...(data.fromMarkdownExtensions ?? []), wikiLinkFromMarkdown]
}

function tokenizeWikiLink(effects: Effects, ok: State, nok: State): State {
  let inner = ''
  let openBrackets = 0
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
    return first
  }

  /** Skips outer brackets: in `[[[a]]]` the inner ones count. */
  function first(code: Code): State | undefined {
    return code === leftBracket ? nok(code) : inside(code)
  }

  function inside(code: Code): State | undefined {
    if (code === null || markdownLineEnding(code)) return nok(code)
    effects.consume(code)
    if (code === rightBracket) return afterRight
    inner += textOf(code)
    return code === leftBracket ? afterLeft : inside
  }

  /** Continues after `[`, since `[[a [[b]]` is text and a link. */
  function afterLeft(code: Code): State | undefined {
    if (code === leftBracket) return nok(code)
    openBrackets++
    return inside(code)
  }

  /** Continues after `]`, since `[[a](b)` is a bracket and a Markdown link. */
  function afterRight(code: Code): State | undefined {
    if (code === leftParenthesis) return nok(code)
    if (code !== rightBracket) {
      openBrackets = Math.max(0, openBrackets - 1)
      inner += ']'
      return inside(code)
    }
    effects.consume(code)
    return openBrackets > 0 ? afterClose : end
  }

  /** Continues after `]]`: in `[[a [b]]]` the first of three brackets closes the inner one. */
  function afterClose(code: Code): State | undefined {
    if (code !== rightBracket) return end(code)
    effects.consume(code)
    inner += ']'
    return end
  }

  function end(code: Code): State | undefined {
    if (parseWikiLinkText(inner) === undefined && ownPageLinkText(inner) === undefined) return nok(code)
    effects.exit('wikiLink')
    return code === leftParenthesis
      ? effects.check({ tokenize: tokenizeAddress, partial: true }, nok, ok)(code)
      : ok(code)
  }
}

/** Tokenizes the URL of a Markdown link. The first bracket in it decides. */
function tokenizeAddress(effects: Effects, ok: State, nok: State): State {
  let address = ''
  return (code) => {
    effects.enter('wikiLink')
    return inside(code)
  }

  function inside(code: Code): State | undefined {
    if (code === null || markdownLineEnding(code) || address.length > maxAddress) return nok(code)
    address += textOf(code)
    effects.consume(code)
    const isEnd = address.length > 1 && (code === leftParenthesis || code === rightParenthesis)
    return isEnd ? close : inside
  }

  function close(code: Code): State | undefined {
    effects.exit('wikiLink')
    return addressBehind.test(address) ? ok(code) : nok(code)
  }
}

function ownPlace(inner: string): TextData {
  const place = ownPagePlace(inner)
  return place === undefined ? {} : { ownPlace: place }
}

/** Returns the text of a code. Of micromark's negative codes, -2 is a tab, and -1 the columns that it fills. */
function textOf(code: number): string {
  if (code >= 0) return String.fromCharCode(code)
  return code === -2 ? '\t' : ''
}
