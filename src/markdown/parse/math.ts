import type { Extension as FromMarkdownExtension } from 'mdast-util-from-markdown'
import { asciiDigit, markdownLineEnding, markdownLineEndingOrSpace } from 'micromark-util-character'
import type {
  Code,
  Construct,
  Effects,
  State,
  Extension as SyntaxExtension,
  TokenizeContext,
} from 'micromark-util-types'
import type { Processor } from 'unified'

declare module 'micromark-util-types' {
  interface TokenTypeMap {
    math: 'math'
    /** Token for the part of math on one line, which micromark requires. */
    mathLine: 'mathLine'
  }
}

const dollar = 36
const backslash = 92
/** Column before which no dollar sign closes math, for each text being tokenized. */
const unclosed = new WeakMap<TokenizeContext, number>()

const math: Construct = { name: 'math', tokenize: tokenizeMath, previous: (code) => code !== dollar }

/**
 * micromark syntax: `$…$` on one line, without a blank after the first or before the last sign, or a digit after that, so that prices are
 * not math; and `$$…$$` in one paragraph.
 */
const mathSyntax: SyntaxExtension = { text: { [dollar]: math } }

/** Math becomes literal text: it contains no links and no emphasis. */
const mathFromMarkdown: FromMarkdownExtension = {
  enter: {
    math(token) {
      this.enter({ type: 'text', value: this.sliceSerialize(token) }, token)
    },
  },
  exit: {
    math(token) {
      this.exit(token)
    },
  },
}

/** Adds math to a unified processor. */
export function remarkMath(this: Processor): undefined {
  const data = this.data()
  data.micromarkExtensions = [...(data.micromarkExtensions ?? []), mathSyntax]
  data.fromMarkdownExtensions = [...(data.fromMarkdownExtensions ?? []), mathFromMarkdown]
}

function tokenizeMath(this: TokenizeContext, effects: Effects, ok: State, nok: State): State {
  const { offset } = this.now()
  const isUnclosed = offset < (unclosed.get(this) ?? 0)
  let isDisplayed = false
  /** Previous character code; null if a backslash escapes it. */
  let before: Code = null
  const failed = (code: Code) => {
    if (!isDisplayed) unclosed.set(this, this.now().offset)
    return nok(code)
  }
  const consumed = (code: Code, next: State) => {
    effects.consume(code)
    before = before === backslash ? null : code
    return next
  }
  return (code) => {
    effects.enter('math')
    effects.enter('mathLine')
    effects.consume(code)
    return opening
  }

  function opening(code: Code): State | undefined {
    if (code !== dollar)
      return isDisplayed || !(isUnclosed || markdownLineEndingOrSpace(code)) ? inside(code) : nok(code)
    isDisplayed = !isDisplayed
    return isDisplayed ? consumed(code, opening) : nok(code)
  }

  function inside(code: Code): State | undefined {
    if (code === null || (!isDisplayed && markdownLineEnding(code))) return failed(code)
    if (code === dollar && before !== backslash) return closing(code)
    if (!markdownLineEnding(code)) return consumed(code, inside)
    effects.exit('mathLine')
    effects.enter('lineEnding')
    effects.consume(code)
    effects.exit('lineEnding')
    effects.enter('mathLine')
    before = code
    return inside
  }

  function closing(first: Code): State | undefined {
    const isAfterBlank = markdownLineEndingOrSpace(before)
    let signs = 0
    return sign(first)

    function sign(code: Code): State | undefined {
      if (code === dollar) {
        signs++
        return consumed(code, sign)
      }
      const isClosed = isDisplayed ? signs === 2 : signs === 1 && !isAfterBlank && !asciiDigit(code)
      if (!isClosed) return inside(code)
      effects.exit('mathLine')
      effects.exit('math')
      return ok(code)
    }
  }
}
