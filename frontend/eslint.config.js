import js from "@eslint/js";
import tseslint from "typescript-eslint";

export default tseslint.config(
  js.configs.recommended,
  tseslint.configs.strict,
  tseslint.configs.stylistic,
  {
    rules: {
      eqeqeq: "error",
      "no-restricted-syntax": [
        "error",
        { selector: "JSXAttribute[name.name='dangerouslySetInnerHTML']", message: "Names in a logdir are not trusted: render text." },
      ],
      "no-restricted-properties": [
        "error",
        { property: "innerHTML", message: "Names in a logdir are not trusted: use textContent." },
      ],
    },
  },
);
