package lib3pt;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A reader of JSON: Map, List, String, Long, Boolean, null. No numbers but whole ones, as the vectors
 * and 3pt.json have them.
 */
final class Json {
  private final String text;
  private int at;

  private Json(String text) {
    this.text = text;
  }

  static Object read(String text) {
    Json json = new Json(text);
    Object value = json.value();
    json.space();
    if (json.at != text.length()) throw json.wrong();
    return value;
  }

  private IllegalArgumentException wrong() {
    return new IllegalArgumentException("not JSON at character " + at);
  }

  private char space() {
    while (at < text.length() && Character.isWhitespace(text.charAt(at))) at++;
    return at < text.length() ? text.charAt(at) : 0;
  }

  private boolean take(char c) {
    if (space() != c) return false;
    at++;
    return true;
  }

  private void need(char c) {
    if (!take(c)) throw wrong();
  }

  private Object value() {
    switch (space()) {
      case '{':
        return object();
      case '[':
        return list();
      case '"':
        return string();
      default:
        return word();
    }
  }

  private Map<String, Object> object() {
    Map<String, Object> object = new LinkedHashMap<>();
    need('{');
    if (take('}')) return object;
    do {
      space();
      String key = string();
      need(':');
      object.put(key, value());
    } while (take(','));
    need('}');
    return object;
  }

  private List<Object> list() {
    List<Object> list = new ArrayList<>();
    need('[');
    if (take(']')) return list;
    do list.add(value());
    while (take(','));
    need(']');
    return list;
  }

  private String string() {
    StringBuilder made = new StringBuilder();
    need('"');
    while (text.charAt(at) != '"') made.append(text.charAt(at) == '\\' ? escape() : text.charAt(at++));
    at++;
    return made.toString();
  }

  private char escape() {
    char c = text.charAt(at + 1);
    at += 2;
    if (c == 'u') {
      at += 4;
      return (char) Integer.parseInt(text.substring(at - 4, at), 16);
    }
    int known = "nrtbf".indexOf(c);
    return known < 0 ? c : "\n\r\t\b\f".charAt(known);
  }

  private Object word() {
    int start = at;
    while (at < text.length() && ",]} \n\r\t".indexOf(text.charAt(at)) < 0) at++;
    String word = text.substring(start, at);
    if (word.equals("null")) return null;
    if (word.equals("true") || word.equals("false")) return Boolean.valueOf(word);
    return Long.valueOf(word);
  }
}
