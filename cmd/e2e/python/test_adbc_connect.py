"""Connecting through ADBC, with and without credentials."""

import dataclasses
import warnings

import adbc_driver_flightsql.dbapi as flightsql
import adbc_driver_manager as manager
import pytest
from adbc_driver_flightsql import DatabaseOptions


def test_the_default_connection_gives_no_warning(way):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with way.connect(autocommit=False) as conn, conn.cursor() as cur:
            cur.execute("SELECT 1 AS a")
            assert cur.fetchall() == [(1,)]


def test_credentials_are_welcome_where_none_are_needed(plain):
    for options in ({"username": "u", "password": "p"}, {DatabaseOptions.AUTHORIZATION_HEADER.value: "Bearer t"}):
        with flightsql.connect(plain.uri, db_kwargs=options, autocommit=True) as conn, conn.cursor() as cur:
            cur.execute("SELECT 1 AS a")
            assert cur.fetchall() == [(1,)]


def test_cookies_can_be_enabled(way):
    assert way.query("SELECT 1 AS a", **{DatabaseOptions.WITH_COOKIE_MIDDLEWARE.value: "true"}).num_rows == 1


def test_an_unknown_header_is_ignored(way):
    assert way.query("SELECT 1 AS a", **{DatabaseOptions.RPC_CALL_HEADER_PREFIX.value + "x-unknown": "1"}).num_rows == 1


WRONG = {
    "no credentials": {},
    "a wrong password": {"user": "alice", "password": "wrong"},
    "an unknown user": {"user": "nobody", "password": "correct horse"},
    "a wrong token": {"token": "no-token"},
}


@pytest.mark.parametrize("credentials", WRONG)
def test_wrong_credentials_are_refused(basic, credentials):
    wrong = dataclasses.replace(basic.anonymous(), **WRONG[credentials])
    with pytest.raises(manager.Error) as e:
        wrong.query("SELECT 1 AS a")
    assert e.value.status_code == manager.AdbcStatusCode.UNAUTHENTICATED


def test_an_untrusted_certificate_is_refused(basic):
    with pytest.raises(manager.Error) as e:
        flightsql.connect(basic.uri, db_kwargs={"username": basic.user, "password": basic.password}).close()
    assert "certificate" in str(e.value)
